"""Native Windows: libraries that do not load."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, Platform, PythonEnv, Symptom, SystemPackage, Torch


@rule("windows-runtime-dll-missing", "likely")
def torchs_own_part_is_not_loaded(
    symptom: Symptom = seen("dll-load-failed-of-old"), _where: Symptom = seen("torch-c-part-imported")
) -> Verdict:
    """Older Pythons do not say which part it was; the line above tells that it is torch's."""
    return {"said": symptom.id}


@rule("intel-oneapi-runtime-missing", "likely")
def program_for_intel_lacks_a_library(
    symptom: Symptom = seen(tag="windows-status"),
    where: Symptom = seen("oneapi-in-words", "ipex-imported", "intel-gpu-in-words"),
) -> Verdict:
    """Windows ends a program with this number where a library of its is not found; this one speaks of SYCL."""
    return {"said": symptom.id, "where": where.id}


@rule("windows-runtime-dll-missing", "possible")
def program_lacks_a_library(
    symptom: Symptom = seen(tag="windows-status"),
    where: Symptom | None = seen("oneapi-in-words", "ipex-imported", "intel-gpu-in-words"),
) -> Verdict:
    """The same where nobody tells which library it may be."""
    return where is None and {"said": symptom.id}


@rule("windows-runtime-dll-missing", "likely")
def runtime_of_visual_c_is_not_installed(
    torch: Torch, _gone: SystemPackage = one(name="vc-runtime", state="absent"), conda: PythonEnv | None = one(kind="conda"),
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """torch's libraries stand on it, and pip's wheels do not bring it; conda does."""
    return torch.knows("env") and conda is None and works is None


@rule("cpu-only-torch", "possible")
def pip_brought_the_plain_wheel(
    torch: Torch = one(available=False), _platform: Platform = one(system="windows"), gpu: Gpu = one(vendor="nvidia"),
    why: Symptom | None = seen("torch-driver-too-old", "torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device"),
) -> Verdict:  # fmt: skip
    """torch sees no GPU where there is one, and says no more; what pip brings by itself on Windows is a build for the processor."""
    has_variant = torch.get("cuda") or torch.get("hip") or "+" in str(torch.get("version"))
    return why is None and not has_variant and bool(gpu.fields)


@rule("cpu-only-torch", "possible")
def plain_version_and_a_card_that_is_not_used(
    torch: Torch, gpu: Gpu = one(vendor="nvidia"), statement: Symptom = seen("gpu-missed-in-words", "gpu-missed-in-small-letters", tag="gpu-not-used"), platform: Platform | None = one(system=("linux", "macos")),
) -> Verdict:  # fmt: skip
    """A version without the name of a toolkit, a card, and somebody who misses it."""
    plain = "+" not in str(torch.get("version") or "+") and not torch.knows("cuda") and not torch.get("hip")
    return platform is None and plain and not torch.get("available") and bool(gpu.fields) and {"told": statement.id}


@rule("gfx-not-in-rocblas", "possible")
def unlisted_card_is_not_used_on_windows(
    card: Gpu = one(vendor="amd"), _program: Symptom = seen("ollama-named"),
    symptom: Symptom = seen("cpu-alone-in-words", "cpu-alone-in-small-letters", "gpu-trouble-in-words", "gpu-missed-in-words", tag="gpu-not-used"),
    platform: Platform | None = one(system=("linux", "macos")),
    works: Symptom | None = seen("works-told", "ollama-computes-on-rocm", "shared-memory-not-used-told", "carve-out-alone-told", "vram-misdetected-told", "ggml-vulkan-named"),
) -> Verdict:  # fmt: skip
    """ollama's libraries for Windows have fewer chips than Linux's, and no override there adds one."""
    sibling = override_for(card.isa) is not None or card.get("integrated")
    return platform is None and works is None and bool(sibling) and {"gfx": card.isa, "said": symptom.id}
