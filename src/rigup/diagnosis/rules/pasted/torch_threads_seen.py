"""What the threads of torch's own projects show: a kernel that the driver refuses, a runtime that does not start, a list of conda's, an NCCL on one host.

Each is one line of a program beside another that tells what else there is; where that other says the contrary, nothing is said.
"""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.container import ENGINE_DEFAULT
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.told import MACS, OTHER_ACCELERATORS
from rigup.knowledge import wsl
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.knowledge.pythons import pythons
from rigup.machine.kinds import (
    Distribution,
    Driver,
    Gpu,
    Package,
    Platform,
    PythonEnv,
    SharedMemory,
    Symptom,
    Torch,
    World,
)

_CONTAINERS = ("docker-in-words", "container-in-words", "speaks-of-a-container", "compose-log")
_CONDAS = ("conda", "miniforge", "mamba")
_NAMED = ("graphics-card-on-a-line", "nvidia-geforce-named")
_LATE = 5  # quarters of a year: so long after a Python's release its wheels may not be there yet
_FRESH = 1  # and of its own patches these come in the first months
_OTHER_REASONS = (
    "pip-connection-broken", "pip-could-not-fetch", "pip-single-index", "pip-looks-in", "aarch64-in-words", "jetson-in-words", "tegra-in-words", "orin-in-words",
    "apple-chip-in-words", "apple-silicon-in-words",
)  # fmt: skip


# -- the driver
@rule("driver-too-old-for-wheel", "possible")
def driver_refuses_what_triton_compiled(
    _said: Symptom = seen("triton-image-is-invalid"), brought: Symptom | None = seen("triton-brings-a-ptxas"), driver: Driver | None = one(vendor="nvidia"),
    amd: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Triton brings a ptxas of its own, mostly newer than the driver; with the older one of a toolkit the same kernel loads."""
    wanted = str((brought.get("cuda") if brought else torch.get("cuda") if torch else "") or "")
    if amd is not None or driver is None:
        return amd is None
    carried = str(driver.get("cuda") or cuda_of_driver(driver.version) or "")
    older = bool(carried and wanted) and version_key(carried) < version_key(wanted)
    return older and {"have": driver.version, "cuda": wanted}


# -- the build
@rule("cpu-only-torch", "likely")
def conda_may_take_none_but_the_processors(
    choice: Package = one(manager="conda", name="_pytorch_select"), others: Every[Package] = every(Package), torch: Torch | None = None,
    mac: Symptom | None = seen(*MACS), asked: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """conda's own channel chooses by this package which torch its solver takes."""
    cpu = str(choice.get("build")).startswith("cpu")
    cuda = any(other.name in ("pytorch", "torch") and _for_cuda(other) for other in others)
    works = torch is not None and bool(torch.get("available") or torch.get("cuda") or torch.get("hip"))
    return cpu and not cuda and not works and mac is None and asked is None


def _for_cuda(package: Package) -> bool:
    return "cuda" in str(package.get("build") or "") or "+cu" in str(package.get("version"))


@rule("cpu-only-torch", "possible")
def lightning_finds_no_backend_and_a_card_is_named(
    said: Symptom = seen("lightning-no-gpu-backend"), card: Symptom = seen(*_NAMED), torch: Torch | None = None, driver: Driver | None = None,
    world: World | None = None, guest: Platform | None = one(wsl=(1, 2)), known: Symptom | None = seen(*SILENT, *NO_CUDA, *OTHER_ACCELERATORS, *MACS, *_CONTAINERS, "slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:  # fmt: skip
    """torch answers Lightning that it has no CUDA, somebody has a card, and no driver complains."""
    told = torch is not None and any(torch.get(key) for key in ("available", "cuda", "hip"))
    alone = all(other is None for other in (driver, world, guest, known))
    return alone and not told and {"said": said.id, "named": card.id}


# -- Linux inside Windows
@rule("wsl-libcuda-link", "possible")
def linker_misses_what_the_program_has_loaded(
    error: Symptom = seen("linker-finds-no-libcuda"), _works: Symptom = seen("tensor-on-a-device"), platform: Platform | None = None,
    system: Distribution | None = None, inside: Symptom | None = seen(*_CONTAINERS),
) -> Verdict:  # fmt: skip
    """CUDA works, and a kernel that is compiled on the spot finds no plain name: of a driver's packages it is WSL's that has none."""
    ubuntu = system is None or system.get("id") in ("ubuntu", None)
    return platform is None and ubuntu and inside is None and {"path": wsl.library_folder(), "said": error.id}


# -- Intel's cards
@rule("library-clash-ld-library-path", "possible")
def another_release_lists_the_card(
    said: Symptom = seen("xpu-runtime-does-not-start"), _listed: Symptom = seen("xpu-lists-a-card"), inside: Symptom | None = seen(*_CONTAINERS),
) -> Verdict:  # fmt: skip
    """The driver serves one torch and not the other, which lies in an environment of conda's: its libraries come first there."""
    conda = any(name in str(said.get("path")) for name in _CONDAS)
    return conda and inside is None and {"said": said.id}


@rule("render-group-missing", "possible")
def runtime_of_intels_does_not_start(
    said: Symptom = seen("xpu-runtime-does-not-start"), listed: Symptom | None = seen("xpu-lists-a-card"), works: Torch | None = one(xpu_available=True), card: Gpu | None = one(vendor="intel", seen_by=("sycl-ls", "clinfo")),
    inside: Symptom | None = seen(*_CONTAINERS), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """On Linux the runtime opens the card's node first; a card that something lists is open."""
    linux = str(said.get("path") or "").startswith("/") and not said.place.world
    return linux and all(other is None for other in (listed, works, card, inside, guest)) and {"vendor": "intel"}


@rule("container-without-gpu", "likely")
def runtime_of_intels_does_not_start_in_a_container(
    said: Symptom = seen("xpu-runtime-does-not-start"), where: Symptom = seen(*_CONTAINERS), listed: Symptom | None = seen("xpu-lists-a-card"),
) -> Verdict:  # fmt: skip
    """The same where the words tell of a container."""
    return listed is None and {"option": "--device=/dev/dri", "said": said.id, "where": where.id}


# -- NCCL
@rule("shm-too-small", "possible")
def system_error_of_nccl_on_one_host(
    _error: Symptom = seen("nccl-system-error", "nccl-system-error-constant"), _alone: Symptom = seen("nccl-tests-on-one-host"),
    nodes: Symptom | None = seen("several-nodes-told", "nccl-uses-inner-interfaces", "nccl-no-address-family"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """Between cards of one host NCCL asks the system for little but shared memory, and engines give little of it."""
    return nodes is None and (shared is None or shared.total <= ENGINE_DEFAULT)


# -- the Python
@rule("python-version-without-wheels", "possible")
def nothing_was_offered_to_a_python_then_new(
    said: Symptom = seen("pip-no-version", offered="none"), python: PythonEnv | None = None, pip: Symptom | None = seen("pip-tells-its-release-and-python"), other: Symptom | None = seen(*_OTHER_REASONS),
    platform: Platform | None = one(system=("macos", "windows")), arm: Platform | None = one(architecture=("aarch64", "armv7l", "arm64", "i686", "ppc64le")), musl: Distribution | None = one(id="alpine"),
) -> Verdict:  # fmt: skip
    """The table has wheels for this Python today; they came months after it, and pip or the Python itself is of its first ones."""
    version = str(python.get("version")) if python else ""
    fresh = _of_its_first_patches(version) or (pip is not None and _of_its_first_months(pip))
    plain = all(reason is None for reason in (other, platform, arm, musl)) and not said.get("asked")
    return (
        plain and fresh and bool(pythons(said.name)) and {"name": said.name, **({"have": version} if version else {})}
    )


def _of_its_first_patches(version: str) -> bool:
    parts = version_key(version)
    return len(parts) > 2 and parts[:1] == (3,) and int(parts[2]) <= _FRESH


def _of_its_first_months(pip: Symptom) -> bool:
    """pip counts its releases by year and quarter, and a Python comes each October: 3.8 that of 2019."""
    age = (int(str(pip.get("year"))) - int(str(pip.get("minor"))) - 11) * 4 + int(str(pip.get("quarter")))
    return 3 <= age <= _LATE
