"""Images and engines: built for the CPU, for another processor or a newer driver, and what the engine lacks or forgot."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.container import ENGINE_DEFAULT
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import (
    CdiSpec,
    ContainerEngine,
    DeviceRules,
    Driver,
    Gpu,
    SearchPath,
    SharedMemory,
    Symptom,
    Torch,
)

_STARTED = (".sh", "nvcc", "ptxas", "gcc", "ffmpeg")  # what is refused here is to be run
_SYSTEM = ("/dev/", "/sys/", "/proc/", "/run/", "/var/run/", "/etc/", "/tmp/", "/root/", "/usr/bin/", "/lib/")


def line_of(symptom: Symptom) -> int:
    """Where in its text it stands; what has no line comes first."""
    return symptom.fields["id"].where.line or 0


def what_is_refused(symptom: Symptom) -> str:
    """The path of a refusal, unless it belongs to the system or is a program to be run."""
    path = str(symptom.get("path") or symptom.get("a") or symptom.get("b") or symptom.get("c"))
    return "" if path.startswith(_SYSTEM) or path.endswith(_STARTED) else path


@rule("container-toolkit-missing", "likely")
def engine_knows_no_runtime_and_the_toolkit_is_not_there(
    engine: ContainerEngine, none: Symptom = seen("no-program-of-the-toolkit-found"), _card: Gpu = one(vendor="nvidia"), spec: CdiSpec | None = None,
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The engine lists what it starts containers with, nothing of NVIDIA's is there, nor on the path, and the host has its card."""
    known = engine.get("runtimes") or []
    return (
        bool(known)
        and spec is None
        and works is None
        and not any("nvidia" in name for name in known)
        and {"said": none.id}
    )


@rule("container-lost-gpu-after-daemon-reload", "possible")
def program_is_refused_somewhere(error: Symptom = seen(tag="images-refused")) -> Verdict:
    """The same words; that it is a container nobody says."""
    return not error.place.world and {"said": error.id}


@rule("container-lost-gpu-after-daemon-reload")
def rules_let_no_card_through(
    rules: DeviceRules, _said: Symptom = seen("nvml-unknown-error", "nvidia-node-not-permitted", "cuda-800", "cuda-800-constant", "cuda-not-permitted-plain")
) -> Verdict:  # fmt: skip
    """The control group lists what may be opened, NVIDIA's nodes are not in it, and the driver is refused."""
    return not any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)


@rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def folder_of_compatibility_is_put_first(
    path: SearchPath, gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), works: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """The loader's path leads through the package's folder, the table shows its CUDA, and no GeForce takes it."""
    carried = cuda_of_driver(driver.version)
    more = bool(carried) and driver.knows("cuda") and version_key(driver.cuda) > version_key(carried or "0")
    folder = "/cuda" in path.path and path.path.rstrip("/").endswith("/compat")
    return more and folder and works is None and "GeForce" in str(gpu.get("name"))


@rule("shm-too-small", "likely")
def engines_default_and_a_bus_error(
    shared: SharedMemory,
    error: Symptom = seen("bus-error-plain", "bus-error-signal", "no-space-left-plain", "dataloader-worker-gone"),
) -> Verdict:
    """A bus error, or no space, is what a full /dev/shm gives; its size is an engine's default."""
    full = error.id != "no-space-left-plain" or shared.get("free") == 0
    return full and shared.total <= ENGINE_DEFAULT and {"size": f"{shared.total // 2**20} MiB"}


@rule("shm-too-small", "possible")
def system_error_of_nccl_on_one_host(
    _error: Symptom = seen("nccl-system-error", "nccl-system-error-constant"), _alone: Symptom = seen("nccl-tests-on-one-host"),
    nodes: Symptom | None = seen("several-nodes-told", "nccl-uses-inner-interfaces", "nccl-no-address-family"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """Between cards of one host NCCL asks the system for little but shared memory, and engines give little of it."""
    return nodes is None and (shared is None or shared.total <= ENGINE_DEFAULT)


@rule("container-files-root-owned", "possible")
def own_files_are_refused_inside(
    refused: Symptom = seen("writing-refused", "work-tree-refused"), owned: Symptom | None = seen("root-owned-entry")
) -> Verdict:
    """A program in a container may not write among its own files; what belongs to the system is another matter."""
    path = what_is_refused(refused)
    return inside(refused) and bool(path) and {"path": path, "seen": owned is not None}


@rule("container-files-root-owned", "likely")
def notebook_is_refused_where_root_owns(
    refused: Symptom = seen("notebook-file-refused"), owned: Symptom = seen("root-owned-entry")
) -> Verdict:
    """A notebook cannot be made, and the folder, or one above it, is root's."""
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return (entry in (".", "") or entry in refused.path.split("/")) and {"path": refused.path, "owner": "root"}


@rule("container-files-root-owned", "likely")
def what_is_refused_belongs_to_root(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("root-owned-entry"), box: Symptom | None = seen(tag="images-commands")
) -> Verdict:  # fmt: skip
    """A path that may not be written leads through an entry of root's, in a container or where containers are in use."""
    if box is None and not inside(refused):
        return False
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return entry in path.split("/") and {"path": path, "owner": "root"}


@rule("container-requires-newer-driver", "likely")
def condition_of_the_image_is_not_met(
    condition: Symptom = seen("image-requires-cuda"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """The driver shows an older CUDA than the image requires, and is of no branch that the image lets pass."""
    shown = driver.get("cuda") or cuda_of_driver(str(driver.version))
    passes = re.findall(r"driver>=(\d{3,4})", condition.get("rest") or "")
    older = bool(shown) and version_key(str(shown)) < version_key(condition.need)
    return older and str(driver.version).partition(".")[0] not in passes and {"what": "CUDA", "want": condition.need}
