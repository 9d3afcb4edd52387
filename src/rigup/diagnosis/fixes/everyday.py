"""What mends everyday errors: the option, the build or the compiler that the text itself lets one name."""

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen, wordings
from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.program_builds import program_of
from rigup.knowledge.system_pythons import headers_of
from rigup.knowledge.torch_builds import index_url
from rigup.machine.kinds import DiskSpace, Distribution, Gpu, JobRequest, Platform, PythonEnv, Symptom

_CONDA = wordings(tag="conda-shown")
_HOSTED = wordings(tag="hosted-hypervisor")
_ROOM = 20 * 2**30  # bytes that a model, an image or a build of torch wants with what it unpacks
_PACKAGES = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "flash_attn": "",
    "yaml": "pyyaml",
    "llama_cpp": "llama-cpp-python",
}
_BACKENDS = {"nvidia": "CUDA", "amd": "HIP", "intel": "VULKAN"}  # as the build's options of llama.cpp name them


@mends("llama-cpp-without-gpu")
def options_of_its_build(
    gpu: Gpu, python: Symptom | None = seen("llama-cpp-supports-no-offload", "llama-cpp-for-python-named"),
) -> Params:  # fmt: skip
    """The package of Python's is compiled where it is installed, by an option in a variable; the program is built by hand."""
    backend = _BACKENDS.get(str(gpu.get("vendor")))
    if backend is None:
        return {}
    option = f"-DGGML_{backend}=ON"
    return (
        {"package": "llama-cpp-python", "option": option}
        if python is not None
        else {"program": "llama.cpp", "build": option}
    )


@mends("host-compiler-too-new")
def compiler_that_fits(
    refused: Symptom = seen("nvcc-refuses-the-compiler"), system: Distribution | None = None, conda: Symptom | None = seen(tag="conda-shown"),
    env: PythonEnv | None = one(kind="conda"),
) -> Params:  # fmt: skip
    """Debian and its kin keep older compilers beside the newest, each under its number; conda has them for its environments."""
    most = str(refused.get("most"))
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    if manager is not None and manager.family == "debian":
        return {"older": f"gcc-{most}, g++-{most}", "compiler": f"/usr/bin/g++-{most}"}
    return {"of_conda": f"gxx_linux-64={most}.*"} if conda is not None or env is not None else {}


@mends("cuda-asked-for-on-mac")
def device_in_its_place(_said: Symptom = seen("device-option-names-cuda")) -> Params:
    """The option that the command line shows."""
    return {"option": "--device mps"}


@mends("vm-without-gpu-passthrough")
def what_hands_no_gpu_on(
    symptom: Symptom | None = seen(tag="hosted-hypervisor"), below: Platform | None = one(hypervisor=("oracle", "innotek", "virtualbox", "parallels")),
) -> Params:  # fmt: skip
    """Programs that run machines in a window give them a display of their own, and no card."""
    hosted = symptom.get("name") if symptom is not None else below.hypervisor if below is not None else None
    return {"hosted": hosted, "host": None if hosted else "host"}


# -- what is compiled where it is installed, or when it is first called
@mends("build-hides-torch")
def package_that_was_built(
    _said: Symptom = seen("build-finds-no-torch"), asked: Symptom = seen("package-is-asked-for")
) -> Params:
    """The one that the command line names."""
    return {"package": asked.package}


@mends("build-tools-missing")
def tools_by_the_system(
    header: Symptom | None = seen("python-headers-not-found"), cl: Symptom | None = seen("inductor-finds-no-cl"), system: Distribution | None = None,
    platform: Platform | None = one(system="windows"), conda: Symptom | None = seen(tag="conda-shown"), python: PythonEnv | None = None, folder: Symptom | None = seen("folder-of-pythons-headers"),
) -> Params:  # fmt: skip
    """Windows has them from Visual Studio, a distribution under names of its own, conda for its environments."""
    if cl is not None or platform is not None:
        return {"windows": "cl.exe"}
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    if manager is not None and manager.compiler:
        minor = folder.get("minor") if folder is not None else python.get("version") if python is not None else None
        own = (
            headers_of(str(system.get("id")), ".".join(str(minor).split(".")[:2]))
            if system is not None and minor
            else ()
        )
        return {
            "packages": (own[0] if own else manager.python_headers)
            if header is not None
            else ", ".join(manager.compiler)
        }
    return {"of_conda": "gxx"} if conda is not None and header is None else {}


@mends("python-managed-by-system")
def environment_of_ones_own(
    asked: Symptom | None = seen("package-is-asked-for"), system: Distribution | None = None
) -> Params:
    """Where a distribution parts venv from Python its package comes first."""
    name = str(asked.get("package") or "") if asked is not None else ""
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    program = program_of(name) if name else None
    wish = program.wish if program is not None else ""
    venv = manager.python_venv if manager is not None else ""
    return {
        "venv": venv or None,
        "wish": wish or None if venv else None,
        "alone": wish or None if not venv else None,
        "package": None if wish else name or None,
        "any": None if name else "packages",
    }


@mends("torch-torchvision-mismatch")
def release_that_knows_its_cuda(_said: Symptom = seen("bitsandbytes-has-no-such-cuda")) -> Params:
    """It looks for a library of torch's CUDA, of which this release knows nothing yet."""
    return {**dict.fromkeys(("rebuilt", "again", "alone", "release")), "newer": "bitsandbytes"}


@mends("torch-torchvision-mismatch")
def extension_of_intel(symptom: Symptom = seen("intels-extension-wants-another-torch")) -> Params:
    """Each release stands on the torch of its own minor release; torch's builds for XPU do without it since it ended."""
    release, _, variant = str(symptom.have).partition("+")
    name = "intel-extension-for-pytorch"
    empty = dict.fromkeys(("release", "torchvision", "index", "alone", "pair", "again"))
    if variant == "xpu":
        return {**empty, "optional": name}
    return {**empty, "paired": None, "alone": f"{name}=={'.'.join(release.split('.')[:2])}.*", "optional": name}


@mends("torch-torchvision-mismatch")
def release_that_pip_finds(symptom: Symptom = seen("xformers-built-for-another-torch")) -> Params:
    """Each release of it asks for one torch: with that torch named, pip takes the release that fits."""
    release, _, variant = str(symptom.get("have")).partition("+")
    empty = dict.fromkeys(("rebuilt", "again", "alone", "release"))
    paired = {"paired": f"xformers, torch=={release}", "paired_index": index_url(variant)} if variant else {}
    return {**empty, **paired, "optional": "xformers"}


# -- disks, engines, ranks, schedulers
@mends("disk-full")
def disk_that_is_full(
    knew: Params, full: Symptom | None = seen("df-shows-a-full-disk"), crowded: Symptom | None = seen("df-shows-no-inode-left"),
    windows: Platform | None = one(system="windows"),
) -> Params:  # fmt: skip
    """The one that is shown full, else that of the file; and which has no inode left."""
    path = str(full.path) if full is not None else _upper(str(knew.get("path") or ""))
    return {
        "crowded": crowded.path if crowded is not None else None,
        "path": path or None,
        "temporary": knew.get("temporary") or ("TMPDIR" if path == "/tmp" else None),
        "anywhere": "disk",
        "unknown": None if path else "disk",
        "windows": "disk" if windows is not None else None,
    }


def _upper(path: str) -> str:
    """The folder below which one looks for what fills a disk: an account's home, a place of the system, the cache of a program."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[1:2] in (["tmp"], ["root"], ["scratch"]) else 3])


@mends("disk-full")
def disk_that_has_room(knew: Params, rooms: Every[DiskSpace] = every(DiskSpace)) -> Params:
    """The one with most of it, where that is enough for a model or a build."""
    free = max(rooms, key=lambda room: int(room.get("free") or 0), default=None)
    roomy = free is not None and int(free.get("free") or 0) > _ROOM and free.path != knew.get("path")
    return {"roomy": free.path} if roomy and free is not None else {}


@mends("engine-not-running")
def who_runs_the_engine(
    knew: Params, platform: Platform | None = None, shown: Symptom | None = seen(tag="windows-in-words")
) -> Params:
    """On Linux it is a service; elsewhere a program with a virtual machine."""
    system = platform.get("system") if platform is not None else "windows" if shown is not None else "linux"
    if knew.get("service") == "" or (system == "linux" and not (platform is not None and platform.get("wsl"))):
        return {"service": knew.get("service", "docker") or None}
    return {"desktop": "Docker Desktop"}


@mends("illegal-memory-access")
def how_to_find_the_kernel(knew: Params, engine: Symptom | None = seen("vllm-in-a-path")) -> Params:
    """By a variable that lets the program wait for each kernel; vLLM's graphs hide which one it was."""
    amd = str(knew.get("runtime") or "").upper() == "HIP"
    serial, how = ("AMD_SERIALIZE_KERNEL", "3") if amd else ("CUDA_LAUNCH_BLOCKING", "1")
    return {
        "serial": serial,
        "how": how,
        "vendor": "amd" if amd else "nvidia",
        "eager": "--enforce-eager" if engine is not None else None,
    }


@mends("slurm-gres-not-there")
def gres_of_the_partition(has: Symptom = seen("sinfo-lists-gres"), asked: JobRequest | None = None) -> Params:
    """The one that sinfo lists, where the script asks for another."""
    wanted = str(asked.get("gpus_per_node") or "1") if asked is not None else "1"
    return {"option": f"--gres={has.gres}:{wanted}"}


@mends("file-not-whole")
def file_that_is_to_come_again(knew: Params) -> Params:
    """All but a pointer of Git LFS, which is fetched."""
    return {"file": None if knew.get("pointer") else "file"}


@mends("port-in-use")
def port_that_is_taken(knew: Params) -> Params:
    """Whichever of its wordings was printed."""
    return {"port": knew.get("port") or knew.get("port2")}


@mends("collective-timed-out")
def first_of_all(knew: Params) -> Params:
    """Where the very first collective hangs, the ways between the cards are to be looked at."""
    return {"direct": "NCCL_P2P_DISABLE" if str(knew.get("number")) in ("0", "1") else None}


@mends("module-not-installed")
def package_of_the_module(knew: Params) -> Params:
    """torch is chosen by the machine; other packages bear the module's name, or one that the table of wishes knows."""
    name = str(knew.get("module") or "").partition(".")[0]
    program = program_of(name)
    wish = program.wish if program is not None else "torch" if name in ("torch", "torchvision", "torchaudio") else None
    return {"wish": wish, "package": None if wish else _PACKAGES.get(name, name) or None}


@mends("system-library-missing")
def package_of_the_library(
    knew: Params, system: Distribution | None = None, conda: Symptom | None = seen(tag="conda-shown")
) -> Params:
    """By the names of the family; conda has none of them for the system."""
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    named = knew.get(manager.family) if manager is not None else None
    return {"packages": named, "of_conda": "libgl" if conda is not None and "libGL" in str(knew.get("lib")) else None}


@mends("torch-older-than-wanted")
def torch_that_is_wanted(knew: Params) -> Params:
    """The least that the program asks for."""
    return {"wish": f"torch>={knew.get('least') or knew.get('least2')}"}


@mends("openmp-loaded-twice")
def environment_without_a_mixture(_said: Symptom = seen("openmp-is-there-twice")) -> Params:
    """Made anew by one of pip and conda alone it has one copy."""
    return {"program": "torch"}


@mends("parallel-size-does-not-divide")
def size_that_divides(knew: Params) -> Params:
    """The largest below the one that was asked for."""
    heads, size = int(knew.get("heads") or 1), int(knew.get("size") or 1)
    return {"option": f"--tensor-parallel-size {next(count for count in range(size, 0, -1) if heads % count == 0)}"}


@mends("ollama-not-running")
def who_starts_ollama(
    knew: Params, platform: Platform | None = None, shown: Symptom | None = seen(tag="windows-in-words")
) -> Params:
    """Its installer for Linux makes a service; elsewhere it is an app."""
    if knew.get("base"):
        return {}
    app = shown is not None or (platform is not None and platform.get("system") in ("windows", "macos"))
    return {"desktop": "Ollama"} if app else {"service": "ollama"}


@mends("package-manager-locked")
def process_with_the_lock(knew: Params) -> Params:
    """Whichever wording was printed."""
    return {"pid": knew.get("pid") or knew.get("pid2") or knew.get("pid3")}
