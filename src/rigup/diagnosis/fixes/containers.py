"""What the ways to mend containers' and notebooks' causes need: engines, images, kernels of notebooks."""

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.knowledge.branches import branch_carrying
from rigup.knowledge.cuda import cuda_of_driver
from rigup.knowledge.jetson import jetpack_of_l4t, jetson_wheels
from rigup.knowledge.surroundings import engine_package
from rigup.language import _
from rigup.machine.kinds import (
    ContainerEngine,
    ContainerToolkit,
    Distribution,
    Driver,
    Folder,
    Gpu,
    Jetson,
    JupyterKernel,
    PathLibrary,
    Platform,
    PythonEnv,
    SearchPath,
    Symptom,
    Toolkit,
    Torch,
    World,
)

_CDI = wordings(tag="cdi-unresolved")
_NODES = wordings(tag="cluster-node-shown")
_PLUGIN = wordings(tag="device-plugin-finds-none")
_WANTS = wordings(tag="image-wants-driver")


@mends("container-toolkit-missing")
def engine_to_set_up(
    engine: ContainerEngine | None = None, toolkit: ContainerToolkit | None = None, asked: Symptom | None = seen(tag="cdi-unresolved"),
    world: World | None = None, pods: Symptom | None = seen(tag="cluster-node-shown"), plugin: Symptom | None = seen(tag="device-plugin-finds-none"), k3s: Symptom | None = seen("k3s-named"),
    windows: Platform | None = one(system="windows"), podman: Symptom | None = seen("podman-commands-shown", "podman-in-words"),
) -> Params:  # fmt: skip
    """Whose runtime it is: podman takes a description, Kubernetes's nodes have another engine, and Windows's Docker is a program of its own."""
    if windows is not None:
        return {"desktop": "yes"}
    started = (world and world.get("container")) or (engine and engine.get("name"))
    if pods is not None and started in (None, "kubernetes"):
        nodes = "nodes" if k3s is None else "k3s"
        return {("node_" if plugin is not None else "bare_") + nodes: "containerd" if k3s is None else "k3s"}
    if started in ("apptainer", "singularity"):
        return {"rootless": "--nv", "cdi": None}
    by_files = started == "podman" or (started is None and podman is not None)
    described = "nvidia.com/gpu" if by_files or asked is not None else None
    device_kind = "nvidia.com/gpu" if described and (toolkit is not None or asked is not None) else None
    return {
        "kind": device_kind,
        "cdi": described,
        "engine": None if by_files else (engine and engine.get("name")) or "docker",
    }


@mends("docker-flavour-without-gpu")
def engine_of_the_host(
    engine: ContainerEngine | None = one(flavour="snap"), system: Distribution | None = one(at="host"), plain: Distribution | None = None,
    amd: Symptom | None = seen("docker-no-kfd"), snap: Symptom | None = seen("docker-is-installed-as-a-snap", "docker-as-a-snap-in-words"),
    card: Gpu | None = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), windows: Platform | None = one(system="windows"),
) -> Params:  # fmt: skip
    """The snap goes away, Docker Desktop may stay; what takes its place comes from the distribution, and with it NVIDIA's runtime."""
    host = system or plain
    package = engine_package("docker", str(host.get("id") or "")) if host is not None else ""
    amds = amd is not None or (card is not None and other is None)
    if amds and windows is not None:
        return {"backend": _("native Linux, or on Windows Vulkan, DirectML or AMD's Windows builds")}
    bare = "bare_" if amds else ""
    if engine is None and snap is None:
        return {bare + "desktop": "docker"}
    return {bare + "snap": "docker", bare + "package": package or None, bare + "unknown": None if package else "docker"}


@mends("container-requires-newer-driver")
def driver_for_the_image(
    knew: Params, error: Symptom | None = seen(tag="image-wants-driver"), driver: Driver | None = one(vendor="nvidia")
) -> Params:
    """The oldest branch that carries the image's CUDA; and the CUDA that the driver carries, where somebody tells it."""
    variable_name, want = (
        (error.get("what"), error.get("want")) if error is not None else (knew.get("what"), knew.get("want"))
    )
    carried = driver.get("cuda") if driver is not None else None
    if not want:
        return {"carried": carried} if carried else {}
    cuda = str(variable_name).lower() == "cuda"
    branch = branch_carrying(str(want)) if cuda else str(want).partition(".")[0]
    below = None if carried else {"below": want} if cuda else {"above": want}
    return {"vendor": "nvidia", "branch": branch, "carried": carried, **(below or {})}


@mends("cuda-compat-libs-on-unsupported-gpu")
def what_comes_before_the_drivers_own(
    driver: Driver | None = one(vendor="nvidia"), library: PathLibrary | None = one(compat=True), shown: Symptom | None = seen("compatibility-folder-shown"),
    path: SearchPath | None = None, torch: Torch | None = None, toolkit: Toolkit | None = one(name="cuda"),
) -> Params:  # fmt: skip
    """An image of the driver's own CUDA needs no compatibility package; else its folder goes off the loader's path."""
    named = path.path if path is not None and "/compat" in path.path else None
    folder = (library and library.get("folder")) or (shown and shown.get("compat")) or named or "/usr/local/cuda/compat"
    carried = (
        cuda_of_driver(str(driver.get("version") or "")) if driver is not None else None
    )  # inside, the table shows the package's
    wanted = (torch and torch.get("cuda")) or (toolkit and toolkit.get("version"))
    branch = branch_carrying(str(wanted)) if wanted else None
    return {"carried": carried, "folder": folder, **({"vendor": "nvidia", "branch": branch} if branch else {})}


_HOSTS = {"x86_64": "amd64", "aarch64": "arm64"}  # as images call them


@mends("container-wrong-architecture")
def architecture_of_the_host(
    knew: Params, error: Symptom | None = seen("image-platform-differs", "image-no-manifest", "apptainer-wrong-architecture"),
    jetson: Jetson | None = None, platform: Platform | None = None,
) -> Params:  # fmt: skip
    """What the host is, where the message or the machine tells it."""
    wanted = (error and error.get("want")) or knew.get("want")
    machine = (platform and platform.get("architecture")) or ("aarch64" if jetson is not None else "")
    want = wanted or _HOSTS.get(str(machine))
    return {
        "want": want,
        "tagged": f"--platform=linux/{want}" if error is not None and error.id == "image-platform-differs" else None,
    }


@mends("container-runtime-without-jetson-support")
def what_it_was_started_with(
    world: World | None = one(container=("apptainer", "singularity")), files: Symptom | None = seen("apptainer-no-nv-files", "apptainer-in-words"),
) -> Params:  # fmt: skip
    """Apptainer can take the module's files through NVIDIA's tool."""
    return {"nvccli": "--nvccli" if world is not None or files is not None else None}


@mends("jetson-generic-wheel")
def build_of_nvidia(knew: Params, jetson: Jetson | None = None) -> Params:
    """Wheels go by the release of the module's system; of those that lie in an index the newest."""
    l4t = str((jetson and jetson.get("l4t")) or "")
    release = jetpack_of_l4t(l4t) if l4t else None
    if knew.get("package"):
        return {"program": f"JetPack {release.release}" if release else "JetPack"}
    wheel = next((row for row in jetson_wheels(release.release) if row.index), None) if release else None
    if wheel is not None:
        return {"torch": wheel.torch, "torchvision": wheel.torchvision, "index": wheel.index}
    file = next((row for row in jetson_wheels(release.release) if row.links), None) if release else None
    return {"l4t": l4t or None, **({"file": file.torch, "links": file.links} if file else {})}


@mends("container-files-root-owned")
def folder_of_the_files(
    error: Symptom | None = seen("permission-denied-in-home"), folder: Folder | None = one(owner="root")
) -> Params:
    """The folder that can be given away."""
    return {"folder": (folder and folder.get("path")) or (error and error.get("path"))}


@mends("jupyter-kernel-other-env")
def the_environment_to_register(
    knew: Params, env: PythonEnv | None = None, torch: Torch | None = None, kernel: JupyterKernel | None = None,
    lies: Symptom | None = seen("requirement-lies-in-an-environment"), prompt: Symptom | None = seen("prompt-of-an-environment-asks-torch"),
    printed: Symptom | None = seen("shell-prints-its-python"),
) -> Params:  # fmt: skip
    """The environment that has what the notebook wants: by its folder, else by its name at the prompt where `python` is its own."""
    wanted = env is not None and (env.get("active") or (torch is not None and torch.get("env") == env.prefix))
    prefix = (
        env.prefix
        if wanted and env is not None
        else str((lies and lies.get("prefix")) or "")
        or _of_the_shell(knew)
        or str((printed and printed.get("prefix")) or "")
    )
    if not prefix:
        return {"python": "python", "name": str((prompt and prompt.get("env")) or "work")}
    home, mine, _ = str(kernel.get("path") if kernel else "").partition("/.local/share/jupyter/kernels/")
    name = prefix.replace("\\", "/").rstrip("/").rpartition("/")[2] or "work"
    python = prefix.rstrip("/\\") + ("\\python.exe" if ":\\" in prefix else "/bin/python")
    return {"python": python, "name": name, **({"folder": home + mine + name} if mine else {})}


def _of_the_shell(knew: Params) -> str:
    """The environment beside the notebook's own Python, which is what most rules name: the shell's, the longer search path's, the kernel folder's."""
    shell, listed, kernel = knew.get("shell") or knew.get("one_of"), knew.get("listed"), knew.get("kernel")
    if isinstance(shell, Symptom) and shell.get("prefix"):
        return str(shell.get("prefix")).replace("\\\\", "\\")
    if isinstance(listed, JupyterKernel):
        return str(listed.get("path") or "").partition("/share/jupyter/")[0]
    python = str(knew.get("python") or "")
    other = isinstance(kernel, JupyterKernel) and kernel.get("python") != python
    return python.removesuffix("/bin/python") if other and python.endswith("/bin/python") else ""
