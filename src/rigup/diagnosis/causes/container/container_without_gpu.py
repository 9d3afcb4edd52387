"""The container was started without GPUs."""

from rigup.diagnosis.causes.container_starters import asking, what_it_is_said_to_be_started_by, what_starts_it
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, lacks, mends, one, rule, seen, text_rule, wordings
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.knowledge.starters import asked
from rigup.machine.kinds import (
    ContainerToolkit,
    DeviceNode,
    Driver,
    Gpu,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_DRIVERS = {"nvidia": "nvidia", "amdgpu": "amd"}
_WISHES = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_REQUIRE_CUDA", "NV_CUDA_LIB_VERSION", "CUDA_VERSION", "ROCM_VERSION", "ROCM_PATH")  # of images
_ASKED = "asked-capabilities-without-compute"
_FLAGS_OF = {"apptainer-no-nv-files": ("nvidia", "--nv"), "apptainer-no-rocm-files": ("amd", "--rocm")}  # of whose files none were found


@rule("container-without-gpu")
def no_nodes_inside(
    nodes: Every[DeviceNode] = every(DeviceNode, at="container"),
    card: PciDevice = one(driver=tuple(_DRIVERS)),
    torch: Torch | None = one(at="container"),
    wish: Variable | None = one(name=_WISHES, at="container"),
    error: Symptom | None = seen("kfd-not-there", tag="container-no-gpu", at="container"),
) -> Verdict:
    """The kernel drives a card, and a container that is made for one has no way to it. A data base needs none."""
    wanted = "/dev/kfd" if card.driver == "amdgpu" else "/dev/nvidia"
    built = torch is not None and bool(torch.get("hip") if card.driver == "amdgpu" else torch.get("cuda"))
    intended = built or error is not None or (wish is not None and wish.get("value") not in ("", "none", "void", None))
    return intended and not any(node.path.startswith(wanted) for node in nodes) and {"vendor": _DRIVERS[card.driver or ""]}


@rule("container-without-gpu")
def not_asked_for(
    error: Symptom = seen("image-found-no-driver", "kfd-not-there", tag="container-no-gpu"),
    world: World = one(gpu_requested=False),
    none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:
    """The command that started it names no GPU, and nobody shows that there is none to be named."""
    return none is None and bool(world.get("container")) and (not error.place.world or inside(error))


@rule("container-without-gpu")
def host_has_what_is_missing_inside(
    driver: Driver = one(vendor="nvidia"),
    _error: Symptom = seen(tag="container-no-gpu", at="container"),
    asked: World | None = one(at="container", gpu_requested=True),
) -> Verdict:
    """The driver answers elsewhere on this machine. Where GPUs were asked for a mask inside may hide them as well."""
    return asked is None and bool(driver.version) and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def host_has_what_was_asked_for(
    driver: Driver = one(vendor="nvidia"),
    _error: Symptom = seen(tag="container-no-gpu", at="container"),
    _asked: World = one(at="container", gpu_requested=True),
) -> Verdict:
    """NVIDIA's runtime alone passes nothing in where neither the image nor the command names the GPUs."""
    return bool(driver.version) and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="likely")
def host_lists_what_is_missing_inside(
    card: Gpu = one(vendor="nvidia"),
    _error: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", at="container"),
    asked: World | None = one(at="container", gpu_requested=True),
) -> Verdict:
    """A tool of the host lists the card, and the program in the container finds none."""
    return asked is None and bool(card.get("seen_by") or card.get("uuid")) and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="likely")
def torch_finds_no_driver_inside(
    _error: Symptom = seen(
        "torch-found-no-driver", "nvidia-smi-no-library", "libcuda-not-found", "cuda-driver-library-not-found", at="container"
    ),
    driver: Driver | None = one(vendor="nvidia"),
    card: Gpu | None = one(vendor="nvidia"),
    other: Gpu | None = one(vendor="amd", integrated=False),
    hosted: Symptom | None = seen(tag="hosted-notebook"),
    none: Symptom | None = seen("apptainer-no-nv-files"),
) -> Verdict:
    """The engine puts the driver's library into a container that asks for GPUs, where the host has one; privileges alone do not."""
    elsewhere = hosted is not None or none is not None or (other is not None and card is None)
    return driver is None and not elsewhere and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="likely")
def tensorflow_finds_no_driver_inside(
    _said: Symptom = seen("tf-no-driver-in-container"),
    gpu: Gpu | None = one(vendor="nvidia", at="container"),
    plain: Symptom | None = seen(tag="no-gpu-told"),
) -> Verdict:
    """The host's name is a container's number; where the engine passes GPUs, the driver's folder in /proc comes too."""
    return gpu is None and plain is None and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="likely")
def no_tool_beside_the_compiler(
    _said: Symptom = seen("nvidia-smi-not-installed", at="container"),
    _nvcc: Symptom = seen("nvcc-answers", at="container"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """An image made for CUDA, and without nvidia-smi, which the engine puts there."""
    return driver is None and {"vendor": "nvidia"}


@rule("container-without-gpu")
def no_kfd_inside(_error: Symptom = seen("kfd-not-there", at="container")) -> Verdict:
    """Said is "No such file", not "permission denied": the node was not passed in."""
    return {"vendor": "amd"}


@rule("container-without-gpu", strength="likely")
def ollama_finds_no_kfd(error: Symptom = seen("ollama-kfd-not-loaded"), module: KernelModule | None = one(name="amdgpu")) -> Verdict:
    """On a host the same words mean that the module is not loaded."""
    gone = module is not None and module.get("loaded") is False
    return not gone and error.place.world != "host" and {"vendor": "amd"}


@rule("container-without-gpu", strength="likely")
def tool_is_not_in_the_image(
    _error: Symptom = seen("engine-finds-no-nvidia-smi"),
    asked: World | None = one(at="container", gpu_requested=True),
    none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:
    """Where GPUs are asked for the engine lays nvidia-smi into the image; unless the machine has none at all."""
    return asked is None and none is None and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def image_asks_for_none_itself(
    _error: Symptom = seen("engine-finds-no-nvidia-smi"),
    asked: World = one(at="container", gpu_requested=True),
    none: Symptom | None = seen("apptainer-no-nv-files"),
) -> Verdict:
    """NVIDIA's runtime alone does nothing: the image, or the command, has to name the GPUs as well."""
    return none is None and bool(asked.get("container")) and {"vendor": "nvidia"}


@rule("container-without-gpu")
def render_nodes_were_forgotten(
    _kfd: DeviceNode = one(path="/dev/kfd", at="container"),
    _first: Every[DeviceNode] = lacks(DeviceNode, at="container", path="/dev/dri/renderD128"),
    nodes: Every[DeviceNode] = every(DeviceNode, at="container"),
    torch: Torch = one(at="container"),
    _card: PciDevice = one(driver="amdgpu"),
) -> Verdict:
    """ROCm opens a node of the graphics driver beside its own; the container has the one and none of the others."""
    shut = not any(node.path.startswith("/dev/dri/renderD") for node in nodes)
    return shut and bool(torch.get("hip")) and {"vendor": "amd", "option": "--device=/dev/dri"}


@rule("container-without-gpu", strength="likely")
def asked_for_without_compute(
    _error: Symptom = seen("libcuda-not-found", "cuda-driver-library-not-found"), _asked: Symptom = seen(tag="starters-no-compute")
) -> Verdict:
    """nvidia-smi comes with `utility`, and libcuda with `compute` alone."""
    return {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def somebody_tells_of_a_container(
    error: Symptom = seen("torch-found-no-driver", "ollama-no-nvidia-devices", "libcuda-not-found"),
    _told: Symptom = seen("speaks-of-a-container"),
    driver: Driver | None = one(vendor="nvidia"),
    bus: PciDevice | None = None,
    plain: Symptom | None = seen(tag="no-gpu-told"),
) -> Verdict:
    """The program says that there is no driver, and the person that it runs in a container, and not that no GPU is there."""
    return plain is None and driver is None and bus is None and error.place.world != "host" and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def nvidia_smi_was_tried_inside(
    _error: Symptom = seen("nvidia-smi-not-installed", "nvidia-nodes-not-there", at="container"),
    asked: World | None = one(gpu_requested=True),
    driver: Driver | None = one(vendor="nvidia"),
    bus: PciDevice | None = None,
) -> Verdict:
    """All that is shown is somebody who looks for the GPU in a container; the engine brings the tool with it."""
    return asked is None and driver is None and bus is None and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def no_device_in_a_container(
    symptom: Symptom = seen(tag="intel-gpu-unseen", at="container"),
    nodes: Every[DeviceNode] = every(DeviceNode, at="container"),
    given: Symptom | None = seen(tag="render-nodes-handed-on"),
) -> Verdict:
    """torch has code for Intel's GPUs, and the container shows it none, and no node of a card."""
    return given is None and not _has_render_node(nodes) and {"option": "--device=/dev/dri", "said": symptom.id}


@rule("container-without-gpu", "likely")
def no_device_in_a_container_as_people_say(
    symptom: Symptom = seen(tag="intel-gpu-unseen"),
    where: Symptom = seen(tag="container-spoken-of"),
    nodes: Every[DeviceNode] = every(DeviceNode, at="container"),
    given: Symptom | None = seen(tag="render-nodes-handed-on"),
) -> Verdict:
    """The same where only the words tell that it was in a container."""
    return given is None and not _has_render_node(nodes) and {"option": "--device=/dev/dri", "said": symptom.id, "where": where.id}


@rule("container-without-gpu")
def no_kfd_at_a_prompt_inside(_error: Symptom = seen("kfd-not-there"), _prompt: Symptom = seen("container-root-prompt")) -> Verdict:
    """The machine's name is a container's number, and the node was not passed in."""
    return {"vendor": "amd"}


@text_rule("container-without-gpu", "likely")
def description_names_none_and_a_program_finds_none(
    world: World = one(gpu_requested=False, at="container"),
    symptom: Symptom = seen(tag="started-without-nothing"),
    none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:
    """What describes the container asks for no GPU, and the program in it finds nothing of a driver, on a machine that may have a card."""
    mine = bool(world.container) and symptom.place.world != "host"
    return none is None and mine and {"vendor": "nvidia", "said": symptom.id}


@text_rule("container-without-gpu", "likely")
def description_names_none_and_torch_finds_none(
    world: World = one(gpu_requested=False, at="container"), torch: Torch = one(available=False)
) -> Verdict:
    """The same, where torch says so itself."""
    cpu = torch.knows("cuda") and torch.cuda is None and not torch.get("hip")
    vendor = "amd" if torch.get("hip") else "nvidia"
    return bool(world.container) and torch.place.world != "host" and not cpu and {"vendor": vendor}


@text_rule("container-without-gpu", "likely")
def its_container_was_started_without_gpus(
    symptom: Symptom = seen(tag="started-without-no-gpu"),
    world: World = one(gpu_requested=False),
    asked: World | None = one(gpu_requested=True),
    rocm: Symptom | None = seen("rocm-named-in-lower-case"),
    amd: Gpu | None = one(vendor="amd", integrated=False),
    cpu: Symptom | None = seen("torch-cpu-version-told"),
    mac: Symptom | None = seen(tag="macs"),
    card: Gpu | None = one(vendor="nvidia"),
    none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:
    """The command or file that starts the container asks for no GPU, and the program in it finds none.

    Who only says that it computes on the processor may be meant to, where nobody names a card.
    """
    vendor = "amd" if rocm is not None or amd is not None else "nvidia"
    alone = asked is None and cpu is None and mac is None and none is None
    intended = symptom.id in wordings(tag="torch-for-cpu-at-work") and card is None
    return alone and not intended and bool(world.container) and {"said": symptom.id, "vendor": vendor}


@text_rule("container-without-gpu", "likely")
def program_finds_none_in_a_container_that_was_given_none(
    error: Symptom = seen(tag="started-without-programs"), world: World = one(gpu_requested=False)
) -> Verdict:
    """The command that started the container names no GPU."""
    mine = not error.place.world or error.place.world.startswith("container")
    return bool(world.get("container")) and mine and {"said": error.id}


@mends("container-without-gpu")
def description_that_is_not_there(
    engine: World = one(container="podman"), _none: Symptom = seen("cdi-folder-is-not-there"), card: Gpu | None = one(vendor="amd")
) -> Params:
    """podman hands NVIDIA's cards in by a description, which the toolkit writes when it is asked to."""
    return {"undescribed": engine.container} if card is None else {}


mends("container-without-gpu")(what_starts_it)
mends("container-without-gpu")(what_it_is_said_to_be_started_by)


@mends("container-without-gpu")
def how_gpus_are_asked_for(
    knew: Params,
    card: Gpu | None = None,
    error: Symptom | None = seen(tag="starters-kfd-missed"),
    part: Symptom | None = seen(tag="starters-no-compute"),
    given: Symptom | None = seen("pod-was-given-gpus"),
    k3s: Symptom | None = seen("k3s-named"),
    wsl: Platform | None = one(wsl=(1, 2)),
    intel: Symptom | None = seen(tag="intel-finds-none"),
    flag: Symptom | None = seen(*_FLAGS_OF),
    torch: Torch | None = None,
) -> Params:
    """Each maker's cards are asked for in another way; what the rule itself knew is kept where a command takes it."""
    if knew.get("old"):  # the file asks for them already
        return {}
    pod = knew.get("starter") == "kubernetes"
    if part is not None:  # what is asked of the engine itself stands above the variable
        return asking(knew, "compute-asked" if part.id == _ASKED and not pod else "compute")
    rocm = error is not None or (torch is not None and bool(torch.get("hip")))
    maker = str(knew.get("vendor") or ("amd" if rocm else (card and card.get("vendor")) or ("intel" if intel else "nvidia")))
    if knew.get("option") == asked("intel", "docker"):
        maker = "amd" if error is not None or (card is not None and card.get("vendor") == "amd") or knew.get("vendor") == "amd" else "intel"
        if maker == "amd" and error is None and knew.get("starter") in ("docker", "podman"):
            return {}
    if maker == "nvidia" and pod:
        maker = "nvidia-runtime" if given is not None else "nvidia-k3s" if k3s is not None else maker
    wanted = "amd-wsl" if maker == "amd" and wsl is not None else maker
    holes = {"option": None, **asking(knew, wanted)}
    whose, former = _FLAGS_OF[flag.id] if flag is not None else (maker, None)
    if whose != maker:
        holes |= {"option": None, "instead": holes["option"], "former": former}
    if (maker, knew.get("starter")) == ("nvidia", "lxc"):  # no runtime brings the driver's libraries in
        return {**holes, "guest": None, "bare_guest": holes["guest"]}
    return holes


@mends("container-without-gpu")
def toolkit_that_the_image_speaks_of(
    knew: Params, _banner: Symptom = seen("image-found-no-driver"), toolkit: ContainerToolkit | None = None
) -> Params:
    """NVIDIA's images name it: docker's --gpus needs it on the host, of which nothing is shown."""
    plain = knew.get("option") == asked("nvidia", "docker") and toolkit is None
    return {"option": None, "with_toolkit": knew["option"], "engine": "docker"} if plain else {}


def _has_render_node(nodes: Every[DeviceNode]) -> bool:
    return any(node.path.startswith("/dev/dri/renderD") for node in nodes)


def recent(version: str) -> bool:
    """Whether a driver carries one of the last two majors of CUDA, as most images want."""
    carried, newest = cuda_of_driver(version), cuda_of_driver("9" * 4)
    return bool(carried and newest) and version_key(str(newest))[0] - version_key(str(carried))[0] < 2
