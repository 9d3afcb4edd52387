"""Two or three lines that somebody picked out: what they searched for, what they asked for, and what came of it.

A line of such a kind says what is looked for; the rule stays silent where the text shows the rest of the machine, for then that is judged.
"""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.machine.kinds import Driver, Gpu, JobRequest, KernelModule, Package, Platform, Symptom, Torch

_CUDA_REFUSED = ("program-stops-without-cuda", "yolo-invalid-cuda", "torch-program-wants-cuda")


# -- drivers
@rule("nouveau-bound", "possible")
def nouveau_was_searched_for_and_is_loaded(
    _searched: Symptom = seen("modules-searched-for-nouveau"), _nouveau: KernelModule = one(name="nouveau", loaded=True),
    nvidia: KernelModule | None = one(name="nvidia"), driver: Driver | None = one(vendor="nvidia"), told: Symptom | None = seen(*SILENT, *NO_CUDA),
    card: Gpu | None = None, works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Who searches the modules for it wants to know whether it is in NVIDIA's way; it is loaded, and no more is shown."""
    return all(other is None for other in (nvidia, driver, told, card, works))


# -- parts of a card
@rule("mig-device-misaddressed", "likely")
def parts_are_counted_as_cards(
    said: Symptom = seen("torch-device-beyond-count"), _parts: Symptom = seen("report-lists-parts-of-a-card")
) -> Verdict:
    """A process sees one part at most, the first that it is given; torch is asked for a second device."""
    return {"said": said.id}


# -- jobs
@rule("slurm-ntasks-mismatch", "possible")
def every_node_gets_the_same_rank(job: JobRequest, said: Symptom = seen("srun-gives-every-node-one-rank")) -> Verdict:
    """srun starts the same line on all nodes of the job: each launcher there takes itself for the one node of that number."""
    return job.get("nodes", 1) > 1 and not job.get("tasks") and {"said": said.id, "tasks": job.nodes, "devices": 1}


# -- wheels
@rule("broken-wheel-missing-library", "likely")
def nightly_torch_lacks_a_library(
    error: Symptom = seen("cuda-library-not-found"), _own: Symptom = seen("torch-c-part-imported"), _nightly: Symptom = seen("nightly-torch-asked")
) -> Verdict:  # fmt: skip
    """torch's own compiled part fails to load in an environment of a night's build, which should bring all that it links."""
    return {"lib": error.lib}


_COMPANIONS = ("torchvision", "torchaudio")


@rule("cpu-only-torch", "likely")
def plain_torch_took_the_place_of_one_with_cuda(
    torch: Package = one(name="torch"), companion: Package = one(name=_COMPANIONS), _windows: Platform = one(system="windows"),
    said: Symptom = seen("voice-program-finds-no-card", *NO_CUDA), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """For Windows only an index names its CUDA in the version: the companions still do, and torch came again without."""
    replaced = "+" not in str(torch.version) and "+cu" in str(companion.version)
    return works is None and replaced and {"torch": torch, "said": said.id}


# -- modules
@rule("jetson-generic-wheel", "possible")
def program_is_refused_cuda_on_a_module(
    _module: Symptom = seen("tegra-chip-as-a-device"), said: Symptom = seen(*_CUDA_REFUSED), torch: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """The samples of CUDA see the module's GPU, and torch does not: mostly its build is one for other machines."""
    return torch is None and {"said": said.id}
