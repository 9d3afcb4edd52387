"""Containers, notebooks and Jetsons: what was not given, and what was lost."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge import wsl
from rigup.knowledge.jetson import jetpack_of_l4t
from rigup.machine.kinds import (
    Account,
    ContainerEngine,
    DeviceNode,
    DeviceRules,
    Driver,
    Folder,
    Gpu,
    Jetson,
    JupyterKernel,
    KernelModule,
    PciDevice,
    Platform,
    PythonEnv,
    SharedMemory,
    Symptom,
    Torch,
    Variable,
    World,
)

_DRIVERS = {"nvidia": "nvidia", "amdgpu": "amd"}
_WISHES = (
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_REQUIRE_CUDA",
    "NV_CUDA_LIB_VERSION",
    "CUDA_VERSION",
    "ROCM_VERSION",
    "ROCM_PATH",
)  # of images
ENGINE_DEFAULT = 64 * 2**20  # what docker and podman give /dev/shm


# -- started without GPUs
@rule("container-without-gpu")
def no_nodes_inside(
    nodes: Every[DeviceNode] = every(DeviceNode, at="container"), card: PciDevice = one(driver=tuple(_DRIVERS)),
    torch: Torch | None = one(at="container"), wish: Variable | None = one(name=_WISHES, at="container"),
    error: Symptom | None = seen("kfd-not-there", tag="container-no-gpu", at="container"),
) -> Verdict:  # fmt: skip
    """The kernel drives a card, and a container that is made for one has no way to it. A data base needs none."""
    wanted = "/dev/kfd" if card.driver == "amdgpu" else "/dev/nvidia"
    built = torch is not None and bool(torch.get("hip") if card.driver == "amdgpu" else torch.get("cuda"))
    intended = built or error is not None or (wish is not None and wish.get("value") not in ("", "none", "void", None))
    return (
        intended and not any(node.path.startswith(wanted) for node in nodes) and {"vendor": _DRIVERS[card.driver or ""]}
    )


@rule("container-without-gpu")
def not_asked_for(
    error: Symptom = seen("image-found-no-driver", "kfd-not-there", tag="container-no-gpu"), world: World = one(gpu_requested=False),
    none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:  # fmt: skip
    """The command that started it names no GPU, and nobody shows that there is none to be named."""
    return none is None and bool(world.get("container")) and (not error.place.world or inside(error))


@rule("container-without-gpu")
def host_has_what_is_missing_inside(
    driver: Driver = one(vendor="nvidia"), _error: Symptom = seen(tag="container-no-gpu", at="container"), asked: World | None = one(at="container", gpu_requested=True),
) -> Verdict:  # fmt: skip
    """The driver answers elsewhere on this machine. Where GPUs were asked for a mask inside may hide them as well."""
    return asked is None and bool(driver.version) and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def host_has_what_was_asked_for(
    driver: Driver = one(vendor="nvidia"), _error: Symptom = seen(tag="container-no-gpu", at="container"), _asked: World = one(at="container", gpu_requested=True),
) -> Verdict:  # fmt: skip
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
    _error: Symptom = seen("torch-found-no-driver", "nvidia-smi-no-library", "libcuda-not-found", "cuda-driver-library-not-found", at="container"),
    driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"), other: Gpu | None = one(vendor="amd", integrated=False),
    hosted: Symptom | None = seen(tag="hosted-notebook"),
) -> Verdict:  # fmt: skip
    """The engine puts the driver's library into a container that asks for GPUs; privileges alone do not."""
    elsewhere = hosted is not None or (other is not None and card is None)
    return driver is None and not elsewhere and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="likely")
def tensorflow_finds_no_driver_inside(
    _said: Symptom = seen("tf-no-driver-in-container"), gpu: Gpu | None = one(vendor="nvidia", at="container"), plain: Symptom | None = seen(tag="no-gpu-told"),
) -> Verdict:  # fmt: skip
    """The host's name is a container's number; where the engine passes GPUs, the driver's folder in /proc comes too."""
    return gpu is None and plain is None and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="likely")
def no_tool_beside_the_compiler(
    _said: Symptom = seen("nvidia-smi-not-installed", at="container"), _nvcc: Symptom = seen("nvcc-answers", at="container"), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """An image made for CUDA, and without nvidia-smi, which the engine puts there."""
    return driver is None and {"vendor": "nvidia"}


@rule("container-without-gpu")
def no_kfd_inside(_error: Symptom = seen("kfd-not-there", at="container")) -> Verdict:
    """Said is "No such file", not "permission denied": the node was not passed in."""
    return {"vendor": "amd"}


@rule("container-without-gpu", strength="likely")
def ollama_finds_no_kfd(
    error: Symptom = seen("ollama-kfd-not-loaded"), module: KernelModule | None = one(name="amdgpu")
) -> Verdict:
    """On a host the same words mean that the module is not loaded."""
    gone = module is not None and module.get("loaded") is False
    return not gone and error.place.world != "host" and {"vendor": "amd"}


# -- the engine cannot


def _before_gpus(version: str) -> bool:
    return version.startswith("10.") and wsl.too_old(version, None) is not None


@rule("docker-flavour-without-gpu")
def engine_in_its_own_world(_engine: ContainerEngine = one(flavour=("desktop", "snap")),
                            error: Symptom = seen("container-cli-no-nvml-library", "docker-no-kfd", "docker-no-device-driver"),
                            platform: Platform | None = one(system="windows"), old: Platform | None = one(version=Passes(_before_gpus))) -> Verdict:  # fmt: skip
    """Docker Desktop on Linux and the snap cannot reach the host's driver; a Windows from before GPUs came to WSL is the deeper cause."""
    return old is None and (error.id != "docker-no-device-driver" or platform is None)


@rule("docker-flavour-without-gpu", strength="likely")
def no_driver_where_the_engine_runs(
    _error: Symptom = seen("container-cli-no-nvml-library"),
    absent: Symptom | None = seen("nvidia-smi-not-installed"),
) -> Verdict:
    """The driver's library is not there for the engine; on the host it mostly is, but where its own shell misses the driver's tool too."""
    return absent is None or absent.place.world.startswith("container")


@rule("nvidia-driver-missing", strength="likely")
def neither_engine_nor_host_has_the_driver(
    _error: Symptom = seen("container-cli-no-nvml-library"), absent: Symptom = seen("nvidia-smi-not-installed"),
    driver: Driver | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The driver's library is not found by what hands it in, nor its tool by the host's shell."""
    return driver is None and guest is None and not absent.place.world.startswith("container") and {"said": absent.id}


@rule("docker-flavour-without-gpu", strength="likely")
def no_kfd_where_the_engine_runs(
    _error: Symptom = seen("docker-no-kfd"), module: KernelModule | None = one(name="amdgpu", loaded=False), platform: Platform | None = None,
    barred: KernelModule | None = one(name="amdgpu", blacklisted=True),
    silent: Symptom | None = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "amd-smi-drivers-not-loaded"),
) -> Verdict:  # fmt: skip
    """A virtual machine that Docker runs in has no amdgpu; where the host's own tools miss it too, it is the host that has none."""
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    return module is None and barred is None and (silent is None or guest)


# -- lost while it ran
@rule("container-lost-gpu-after-daemon-reload")
def host_still_sees_it(
    card: Gpu = one(vendor="nvidia"), _error: Symptom = seen("nvml-unknown-error", at="container")
) -> Verdict:
    """The same card answers on the host."""
    return card.get("seen_by") is not None


@rule("container-lost-gpu-after-daemon-reload", strength="likely")
def nvml_lost_inside(_error: Symptom = seen("nvml-unknown-error", at="container")) -> Verdict:
    """NVML finds its nodes and may not use them."""
    return True


@rule("container-lost-gpu-after-daemon-reload")
def both_interfaces_refused(
    error: Symptom = seen("nvml-unknown-error"), _refused: Symptom = seen("cuda-800", "cuda-800-constant")
) -> Verdict:
    """Not permitted, for CUDA and NVML alike: the control group no longer lets them."""
    return error.place.world != "host"


@rule("container-lost-gpu-after-daemon-reload", strength="likely")
def cuda_is_not_permitted(
    error: Symptom = seen("cuda-800", "cuda-800-constant"), nvml: Symptom | None = seen("nvml-unknown-error")
) -> Verdict:
    """The driver is there and says no: a control group that no longer lists the nodes does this."""
    return nvml is None and error.place.world != "host"


@rule("container-lost-gpu-after-daemon-reload", strength="possible")
def nvml_lost_somewhere(error: Symptom = seen("nvml-unknown-error")) -> Verdict:
    """The words fit; that it is a container nobody says."""
    return not error.place.world


@rule("container-lost-gpu-after-daemon-reload")
def rules_without_the_nodes(rules: DeviceRules, node: DeviceNode) -> Verdict:
    """The nodes are there, and the control group does not list them."""
    open_ = any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)
    return not open_ and inside(node) and node.path.startswith("/dev/nvidia")


# -- shared memory
@rule("shm-too-small")
def engines_default_and_a_crash(
    shared: SharedMemory, _error: Symptom = seen("dataloader-bus-error", "shm-segment-failed", "torch-shm-file-failed")
) -> Verdict:
    """The size tells why."""
    return (shared.total <= ENGINE_DEFAULT or shared.get("free") == 0) and {"size": f"{shared.total // 2**20} MiB"}


# -- Jetson
@rule("container-runtime-without-jetson-support")
def no_desktop_libraries_on_a_jetson(_jetson: Jetson, _error: Symptom = seen("apptainer-no-nv-files")) -> Verdict:
    """What --nv looks for are a desktop driver's files."""
    return True


@rule("jetson-generic-wheel")
def wheel_is_not_nvidias(jetson: Jetson, torch: Torch) -> Verdict:
    """NVIDIA's own builds are named after their release: nv23.05."""
    return jetson.knows("l4t") | jetson.knows("kernel") | jetson.knows("model") and _generic(torch)


@rule("jetson-generic-wheel", strength="likely")
def wheel_of_a_server_on_a_module(jetson: Jetson, torch: Torch) -> Verdict:
    """PyTorch's own index names its CUDA in the version; its wheels for Arm are made for servers, whatever CUDA they have."""
    release = jetpack_of_l4t(jetson.l4t)
    foreign = bool(torch.get("cuda")) and "+cu" in torch.version and torch.get("available") is not True
    return foreign and release is not None and not release.generic


@rule("jetson-generic-wheel", strength="possible")
def some_wheel_on_a_jetson(jetson: Jetson, torch: Torch = one(available=False)) -> Verdict:
    """Which build it is nobody tells; on a Jetson it is mostly this."""
    return (jetson.knows("l4t") or jetson.knows("model")) and not torch.knows("version") and not torch.knows("cuda")


@rule("jetson-generic-wheel", strength="likely")
def wheel_is_not_nvidias_by_the_prompt(jetson: Jetson, torch: Torch) -> Verdict:
    """The machine is named after a module."""
    return jetson.knows("prompt") and _generic(torch)


def _generic(torch: Torch) -> bool:
    none = (torch.knows("cuda") and torch.cuda is None) or torch.get("available") is False
    return none and torch.get("available") is not True and ".nv" not in torch.version


# -- files and notebooks
@rule("container-files-root-owned", strength="likely")
def refused_in_its_own_home(error: Symptom = seen("permission-denied-in-home"), world: World | None = None) -> Verdict:
    """The path is the user's, and it is not."""
    return (
        inside(error)
        or bool(world and world.get("container"))
        or str(error.get("path")).lower().startswith("/home/jovyan")
    )


@rule("container-files-root-owned")
def home_belongs_to_root(folder: Folder = one(owner="root"), account: Account | None = None) -> Verdict:
    """A mounted folder that did not exist is made by root."""
    return inside(folder) and account is not None and account.get("uid") != 0 and folder.path == "/home/" + account.user


@rule("jupyter-kernel-other-env")
def kernel_named_after_another(
    kernel: JupyterKernel, env: PythonEnv, torch: Torch, others: Every[Torch] = every(Torch)
) -> Verdict:
    """It bears an environment's name, and starts the Python of another that has not the same torch, as by a link it would."""
    named = env.prefix.rstrip("/").rpartition("/")[2] in (kernel.get("shown"), kernel.get("name"))
    if not named or torch.env != env.prefix or kernel.prefix in (env.prefix, None):
        return False
    return all(other.get("version") != torch.get("version") for other in others if other.get("env") == kernel.prefix)


@rule("jupyter-kernel-other-env", strength="likely")
def no_kernel_has_the_framework(
    kernels: Every[JupyterKernel] = every(JupyterKernel), torches: Every[Torch] = every(Torch)
) -> Verdict:
    """A person registered kernels, and none of them is in an environment that has torch."""
    own = [kernel for kernel in kernels if kernel.get("prefix") and "/.local/share/" in str(kernel.get("path", ""))]
    envs = {torch.env for torch in torches if torch.knows("env")}
    lost = [kernel for kernel in own if kernel.prefix not in envs]
    return bool(envs and own) and len(lost) == len(own) and {"kernel": lost[0], "python": min(envs) + "/bin/python"}


@rule("jupyter-kernel-other-env", strength="likely")
def kernel_of_an_environment_starts_another(kernel: JupyterKernel, env: PythonEnv, torch: Torch) -> Verdict:
    """What lies among an environment's own kernels is meant to start that environment."""
    own = str(kernel.get("path", "")).startswith(env.prefix.rstrip("/") + "/share/jupyter/")
    is_virtual = env.get("kind") in ("conda", "venv")  # a distribution's Python has its kernels in two places
    return is_virtual and own and torch.env == env.prefix and kernel.prefix not in (env.prefix, None)


@rule("jupyter-kernel-other-env")
def notebook_runs_another_python(
    kernel: JupyterKernel, env: PythonEnv = one(active=True), error: Symptom | None = seen("module-not-found")
) -> Verdict:
    """What the shell has is not what the notebook has."""
    return error is not None and bool(kernel.prefix) and kernel.prefix != env.prefix


@rule("jupyter-kernel-other-env", "likely")
def notebook_was_started_in_another(
    kernel: JupyterKernel = one(name="notebook"), env: PythonEnv = one(active=True)
) -> Verdict:
    """Somebody asked both which Python they are, and they are not the same."""
    return bool(kernel.prefix) and kernel.prefix != env.prefix


@rule("jupyter-kernel-other-env", "likely")
def ipython_belongs_to_another_python(
    kernel: JupyterKernel = one(name="ipython"), _error: Symptom = seen("module-not-found")
) -> Verdict:
    """Its banner is another distribution's than the interpreter's, and a module is missing in it."""
    return bool(kernel.shown)
