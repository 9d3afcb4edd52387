"""Images and engines: built for the CPU, for another processor or a newer driver, and what the engine lacks or forgot."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.container import ENGINE_DEFAULT
from rigup.diagnosis.rules.pasted.heard import CONTAINERS_IN_WORDS, IMAGES_SHOWN, NCCL_SYSTEM
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import (
    Account,
    CdiSpec,
    ContainerEngine,
    DeviceRules,
    Driver,
    Folder,
    Gpu,
    Platform,
    SearchPath,
    SharedMemory,
    Symptom,
    Torch,
    World,
)

_REFUSED = ("cuda-not-permitted-plain", "cuda-runtime-not-permitted", "nvml-unknown-in-a-program")
_COMMANDS = ("container-commands-shown", "podman-commands-shown")
_STARTED = (".sh", "nvcc", "ptxas", "gcc", "ffmpeg")  # what is refused here is to be run
_SYSTEM = ("/dev/", "/sys/", "/proc/", "/run/", "/var/run/", "/etc/", "/tmp/", "/root/", "/usr/bin/", "/lib/")
_CONTAINER = _COMMANDS


def _line(said: Symptom) -> int:
    """Where in its text it stands; what has no line comes first."""
    return said.fields["id"].where.line or 0


def _refused(said: Symptom) -> str:
    """The path of a refusal, unless it belongs to the system or is a program to be run."""
    path = str(said.get("path") or said.get("a") or said.get("b") or said.get("c"))
    return "" if path.startswith(_SYSTEM) or path.endswith(_STARTED) else path


# -- docker-flavour-without-gpu
@rule("docker-flavour-without-gpu", "likely")
def desktop_is_in_the_way_as_people_say(
    said: Symptom = seen("docker-desktop-in-the-way-told"), windows: Platform | None = one(system=("windows", "macos")),
    wsl: Platform | None = one(wsl=(1, 2)), world: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """On Linux its engine lives in a virtual machine, which has no GPU to hand on."""
    return windows is None and wsl is None and world is not None and {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def desktop_cannot_load_the_hosts_library(
    engine: ContainerEngine = one(flavour=("desktop", "snap")), said: Symptom = seen("container-tool-cannot-load-the-management-library")
) -> Verdict:  # fmt: skip
    """The message is cut, and the engine is one that does not see the host's libraries."""
    return bool(engine.flavour) and {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def snap_does_not_know_the_runtime(
    _snap: Symptom = seen("docker-installed-as-a-snap", "docker-is-installed-as-a-snap"),
    said: Symptom = seen("docker-unknown-runtime", "runtime-name-unknown", "docker-no-device-driver", "container-cli-no-nvml-library", "engine-finds-no-nvidia-smi", "hook-not-started-by-snap"),
) -> Verdict:  # fmt: skip
    """Docker came as a snap, which has a world of its own."""
    return {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def other_engine_has_not_the_hosts_tools(
    engine: ContainerEngine = one(flavour="snap"), said: Symptom = seen("hook-not-started-by-snap", "runtime-name-unknown", "docker-no-device-driver", "nvidia-smi-not-in-the-image"),
) -> Verdict:  # fmt: skip
    """The snap has its own world, in which the host's toolkit is not."""
    return bool(engine.flavour) and {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def snap_starts_no_container_with_gpus(
    engine: ContainerEngine | None = one(flavour="snap"), told: Symptom | None = seen("docker-as-a-snap-in-words", "docker-installed-as-a-snap", "docker-is-installed-as-a-snap"),
    said: Symptom = seen("engine-cannot-create-the-task", "docker-no-device-driver", "runtime-name-unknown", "docker-unknown-runtime", "container-cli-no-nvml-library"), asked: World = one(gpu_requested=True, at="container"),
) -> Verdict:  # fmt: skip
    """GPUs are asked for, and the snap's daemon cannot start what would hand them in."""
    return bool(engine or told) and bool(asked.get("container")) and {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def desktop_has_not_the_hosts_nodes(
    engine: ContainerEngine = one(flavour="desktop"), said: Symptom = seen("dri-not-where-docker-runs", "runtime-name-unknown")
) -> Verdict:  # fmt: skip
    """Docker Desktop's machine has none of the host's nodes."""
    return bool(engine.flavour) and {"said": said.id}


# -- container-toolkit-missing
@rule("container-toolkit-missing", "possible")
def no_node_has_gpus_to_hand_out(
    said: Symptom = seen("pods-without-amds-resource", "pod-without-gpu-resource"),
    has: Symptom | None = seen("node-has-gpus-to-hand-out"),
) -> Verdict:
    """The scheduler says the same of nodes that have none and of nodes whose GPUs are all in use."""
    return has is None and said.values()


@rule("container-toolkit-missing")
def engine_has_no_way_to_give_gpus(
    error: Symptom = seen("docker-no-device-driver"), later: Symptom | None = seen("table-from-a-container-with-gpus"),
    radeon: Symptom | None = seen("rocm-image-composed", "rocm-image-run"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Where the same command is answered further down, the engine has learnt it meanwhile; an image for ROCm wants no such thing."""
    meant = radeon is None or nvidia is not None
    return meant and (later is None or _line(later) < _line(error)) and {"driver": error.get("driver")}


@rule("container-toolkit-missing", "likely")
def swarm_finds_no_node_and_the_toolkit_is_not_there(
    said: Symptom = seen("swarm-wants-a-node-with-a-gpu"), _none: Symptom = seen("no-program-of-the-toolkit-found")
) -> Verdict:
    """The engine offers no GPU to give, and none of the toolkit's programs is on the path."""
    return {"said": said.id}


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


@rule("container-toolkit-missing", "likely")
def nodes_offer_none_of_their_cards(
    said: Symptom = seen("nodes-list-no-gpus"), _none: Symptom = seen("no-program-of-the-toolkit-found"), _card: Gpu = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The cluster's list has no GPUs, the node has a card, and what would hand it to containers is not installed."""
    return {"said": said.id}


# -- container-wrong-architecture
@rule("container-wrong-architecture", "likely")
def program_of_an_image_is_of_another_processor(
    said: Symptom = seen("exec-format-told"), where: Symptom = seen("aarch64-in-words", "jetson-in-words", "tegra-in-words", "orin-in-words"),
    _engine: Symptom = seen("docker-in-words", "container-in-words", "speaks-of-a-container"),
) -> Verdict:  # fmt: skip
    """The kernel's word for a program of another architecture, on a processor for which few images are made."""
    return {"said": said.id, "where": where.id}


@rule("container-wrong-architecture")
def emulator_of_a_foreign_image_ends_it(
    said: Symptom = seen("emulated-processor-killed-it"), guest: Symptom | None = seen("guest-processor-made-up")
) -> Verdict:
    """qemu's emulation of single programs runs only what is of another architecture; an instruction that is refused on a guest's made-up processor is another matter."""
    return not (guest is not None and str(said.get("signal")) == "4") and {"said": said.id}


# -- container-requires-newer-driver
@rule("container-requires-newer-driver", "likely")
def image_asks_for_more_than_the_driver_has(
    asked: Symptom = seen("image-requires-cuda"), driver: Driver | None = one(vendor="nvidia"), told: Symptom | None = seen("driver-cuda-shown")
) -> Verdict:  # fmt: skip
    """The image's own condition and the driver's CUDA; branches that the image lets in by name are another matter."""
    have = (told and told.get("cuda")) or (driver and driver.get("cuda"))
    branch = str(driver.get("version", "")).partition(".")[0] if driver else ""
    let_in = bool(branch) and f"driver>={branch}," in asked.get("rest", "")
    return bool(have) and not let_in and version_key(str(have)) < version_key(asked.need) and {"cuda": asked.need}


# -- container-lost-gpu-after-daemon-reload
@rule("container-lost-gpu-after-daemon-reload", "likely")
def program_is_refused_inside(error: Symptom = seen(*_REFUSED)) -> Verdict:
    """The driver's library answers in a container, and may not use its nodes."""
    return inside(error) and {"said": error.id}


@rule("container-lost-gpu-after-daemon-reload", "possible")
def program_is_refused_somewhere(error: Symptom = seen(*_REFUSED)) -> Verdict:
    """The same words; that it is a container nobody says."""
    return not error.place.world and {"said": error.id}


@rule("container-lost-gpu-after-daemon-reload", "likely")
def rules_let_no_card_through_and_the_library_does_not_start(
    rules: DeviceRules, _said: Symptom = seen("torch-cannot-start-nvml"), torch: Torch | None = one(available=True)
) -> Verdict:
    """The driver's library is there and does not start, and the control group lists no node of NVIDIA's."""
    listed = any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)
    return torch is None and not listed


@rule("container-lost-gpu-after-daemon-reload")
def rules_let_no_card_through(
    rules: DeviceRules, _said: Symptom = seen("nvml-unknown-error", "nvidia-node-not-permitted", "cuda-800", "cuda-800-constant", "cuda-not-permitted-plain")
) -> Verdict:  # fmt: skip
    """The control group lists what may be opened, NVIDIA's nodes are not in it, and the driver is refused."""
    return not any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)


@rule("container-lost-gpu-after-daemon-reload", "likely")
def refused_after_the_service_manager_reloaded(
    _reloaded: Symptom = seen("systemd-reloaded", "systemd-upgraded"), _refused: Symptom = seen("nvml-unknown-error", "nvml-unknown-in-a-program", "cuda-runtime-not-permitted", "cuda-not-permitted-plain", "cuda-800"),
) -> Verdict:  # fmt: skip
    """systemd read its units anew, or was upgraded, and the driver is refused from then on."""
    return True


# -- cuda-compat-libs-on-unsupported-gpu
@rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def table_shows_more_than_the_driver_carries(
    gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), torch: Torch = one(available=False)
) -> Verdict:
    """nvidia-smi prints what libcuda carries: more than its branch does comes from a compatibility package."""
    carried = cuda_of_driver(driver.version)
    more = bool(carried) and version_key(driver.cuda) > version_key(carried or "0")
    windows = gpu.get("driver_model") is not None  # no such package there
    return more and not windows and "GeForce" in gpu.name and torch.available is False


@rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def folder_of_compatibility_is_put_first(
    path: SearchPath, gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), works: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """The loader's path leads through the package's folder, the table shows its CUDA, and no GeForce takes it."""
    carried = cuda_of_driver(driver.version)
    more = bool(carried) and driver.knows("cuda") and version_key(driver.cuda) > version_key(carried or "0")
    folder = "/cuda" in path.path and path.path.rstrip("/").endswith("/compat")
    return more and folder and works is None and "GeForce" in str(gpu.get("name"))


# -- shm-too-small
@rule("shm-too-small", strength="possible")
def system_error_of_nccl_in_a_container(
    _error: Symptom = seen(*NCCL_SYSTEM), _inside: Symptom = seen("docker-in-words", "container-in-words", "speaks-of-a-container"),
    nodes: Symptom | None = seen("several-nodes-told", "nccl-uses-inner-interfaces", "nccl-no-address-family"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """On one node NCCL asks the system for little but shared memory, and engines give little of it."""
    return nodes is None and (shared is None or shared.total <= ENGINE_DEFAULT)


@rule("shm-too-small", "possible")
def bus_error_of_many_processes_inside(
    _error: Symptom = seen("bus-error-plain", "bus-error-signal"), _many: Symptom = seen("mpi-number-of-processes", "launcher-starts-on-nodes", "nccl-banner", "dataloader-worker-gone"),
    _inside: Symptom = seen("docker-in-words", "container-in-words", "speaks-of-a-container", "in-a-container-told"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """What processes of one node hand each other lies in /dev/shm, and nobody has told its size."""
    return shared is None


@rule("shm-too-small", "likely")
def engines_default_and_a_bus_error(
    shared: SharedMemory,
    error: Symptom = seen("bus-error-plain", "bus-error-signal", "no-space-left-plain", "dataloader-worker-gone"),
) -> Verdict:
    """A bus error, or no space, is what a full /dev/shm gives; its size is an engine's default."""
    full = error.id != "no-space-left-plain" or shared.get("free") == 0
    return full and shared.total <= ENGINE_DEFAULT and {"size": f"{shared.total // 2**20} MiB"}


@rule("shm-too-small", "possible")
def bus_error_in_a_container_with_the_default(
    _error: Symptom = seen("bus-error-plain", "bus-error-signal"), world: World = one(gpu_requested=True),
    larger: Symptom | None = seen("container-is-started-with-more-shared-memory", "container-shares-the-hosts-memory"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """The command that started the container asks for GPUs and for no more shared memory than the engine's default."""
    return bool(world.get("container")) and larger is None and shared is None


@rule("shm-too-small", "possible")
def system_error_of_nccl_on_one_host(
    _error: Symptom = seen("nccl-system-error", "nccl-system-error-constant"), _alone: Symptom = seen("nccl-tests-on-one-host"),
    nodes: Symptom | None = seen("several-nodes-told", "nccl-uses-inner-interfaces", "nccl-no-address-family"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """Between cards of one host NCCL asks the system for little but shared memory, and engines give little of it."""
    return nodes is None and (shared is None or shared.total <= ENGINE_DEFAULT)


# -- container-files-root-owned
@rule("container-files-root-owned", "likely")
def folder_itself_belongs_to_root(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("root-owned-entry")
) -> Verdict:
    """A name without a folder is refused, and `ls -ld .` shows root as the folder's owner."""
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    return inside(refused) and owned.entry in (".", "./") and "/" not in path and {"path": path, "owner": "root"}


@rule("container-files-root-owned", "likely")
def folder_has_an_owner_without_a_name(
    error: Symptom = seen("permission-denied-in-home"), folder: Symptom = seen("cache-of-an-unknown-owner"), where: Symptom = seen(*CONTAINERS_IN_WORDS),
) -> Verdict:  # fmt: skip
    """Inside a container a number without a name is somebody of the image's or of the host's."""
    return {"path": error.get("path"), "owner": folder.get("owner"), "where": where.id}


@rule("container-files-root-owned", "possible")
def own_files_are_refused_inside(
    refused: Symptom = seen("writing-refused", "work-tree-refused"), owned: Symptom | None = seen("root-owned-entry")
) -> Verdict:
    """A program in a container may not write among its own files; what belongs to the system is another matter."""
    path = _refused(refused)
    return inside(refused) and bool(path) and {"path": path, "seen": owned is not None}


@rule("container-files-root-owned", "possible")
def files_are_refused_beside_signs_of_an_image(
    refused: Symptom = seen("writing-refused", "work-tree-refused"),
    sign: Symptom = seen(*IMAGES_SHOWN, *_COMMANDS, "home-of-an-image-shown"),
) -> Verdict:
    """The same, where only something beside the refusal is an image's or an engine's; a person's home may be the host's."""
    path = _refused(refused)
    home = sign.id in _COMMANDS and path.startswith(("/home/", "/Users/", "C:"))
    return bool(path) and not home and {"path": path, "sign": sign.id}


@rule("container-files-root-owned", "likely")
def notebook_is_refused_where_root_owns(
    refused: Symptom = seen("notebook-file-refused"), owned: Symptom = seen("root-owned-entry")
) -> Verdict:
    """A notebook cannot be made, and the folder, or one above it, is root's."""
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return (entry in (".", "") or entry in refused.path.split("/")) and {"path": refused.path, "owner": "root"}


@rule("container-files-root-owned", "likely")
def folder_of_the_image_belongs_to_root(folder: Folder = one(owner="root"), who: Account = one()) -> Verdict:
    """The home of a notebook image, and in it a folder of root's, which a mount made."""
    mine = folder.path.startswith("/home/jovyan/") or (
        inside(folder) and folder.path.startswith("/home/" + who.user + "/")
    )
    return mine and who.get("uid", 0) != 0


@rule("container-files-root-owned", "likely")
def what_is_refused_belongs_to_root(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("root-owned-entry"), box: Symptom | None = seen(*_CONTAINER)
) -> Verdict:  # fmt: skip
    """A path that may not be written leads through an entry of root's, in a container or where containers are in use."""
    if box is None and not inside(refused):
        return False
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return entry in path.split("/") and {"path": path, "owner": "root"}


@rule("container-files-root-owned", "likely")
def what_is_refused_belongs_to_a_mapped_owner(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("entry-of-a-mapped-owner"), box: Symptom = seen(*_CONTAINER, "lxc-configured")
) -> Verdict:  # fmt: skip
    """To whom a range of numbers was given, root of a container is one of them, and everybody else is nobody inside."""
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return entry in path.split("/") and {"path": path, "owner": owned.owner, "where": box.id}


@rule("container-files-root-owned", "likely")
def home_of_the_images_root_is_refused(
    refused: Symptom = seen("permission-denied-in-home"), made: Symptom = seen("compose-makes-a-container")
) -> Verdict:
    """Who is refused below /root is not root: the container runs as somebody else, in the home of the image's root."""
    return str(refused.get("path")).startswith("/root/") and {"path": refused.path, "sign": made.id}
