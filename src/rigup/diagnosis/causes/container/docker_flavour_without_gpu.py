"""This Docker cannot reach the host's GPU driver."""

from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen
from rigup.knowledge import wsl
from rigup.knowledge.surroundings import engine_package
from rigup.language import _
from rigup.machine.kinds import ContainerEngine, Distribution, Gpu, KernelModule, Platform, Symptom


def _before_gpus(version: str) -> bool:
    return version.startswith("10.") and wsl.too_old(version, None) is not None


@rule("docker-flavour-without-gpu")
def engine_in_its_own_world(
    _engine: ContainerEngine = one(flavour=("desktop", "snap")),
    error: Symptom = seen("container-cli-no-nvml-library", "docker-no-kfd", "docker-no-device-driver"),
    platform: Platform | None = one(system="windows"),
    old: Platform | None = one(version=Passes(_before_gpus)),
) -> Verdict:
    """Docker Desktop on Linux and the snap cannot reach the host's driver; a Windows from before GPUs came to WSL is the deeper cause."""
    return old is None and (error.id != "docker-no-device-driver" or platform is None)


@rule("docker-flavour-without-gpu", strength="likely")
def no_driver_where_the_engine_runs(
    _error: Symptom = seen("container-cli-no-nvml-library"), absent: Symptom | None = seen("nvidia-smi-not-installed")
) -> Verdict:
    """The driver's library is not there for the engine; on the host it mostly is, but where its own shell misses the driver's tool too."""
    return absent is None or absent.place.world.startswith("container")


@rule("docker-flavour-without-gpu", strength="likely")
def no_kfd_where_the_engine_runs(
    _error: Symptom = seen("docker-no-kfd"),
    module: KernelModule | None = one(name="amdgpu", loaded=False),
    platform: Platform | None = None,
    barred: KernelModule | None = one(name="amdgpu", blacklisted=True),
    silent: Symptom | None = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "amd-smi-drivers-not-loaded"),
) -> Verdict:
    """A virtual machine that Docker runs in has no amdgpu; where the host's own tools miss it too, it is the host that has none."""
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    return module is None and barred is None and (silent is None or guest)


@rule("docker-flavour-without-gpu", strength="likely")
def desktop_engine_has_no_amdgpu(
    engine: ContainerEngine = one(flavour=("desktop", "snap")),
    symptom: Symptom = seen("hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", "rock-module-not-loaded"),
    platform: Platform | None = one(system=("windows", "macos")),
    asked: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named"),
) -> Verdict:
    """On Linux it runs its containers in a virtual machine, which has none of the host's cards."""
    return platform is None and asked is None and {"flavour": engine.flavour, "said": symptom.id}


@mends("docker-flavour-without-gpu")
def engine_of_the_host(
    engine: ContainerEngine | None = one(flavour="snap"),
    system: Distribution | None = one(at="host"),
    plain: Distribution | None = None,
    amd: Symptom | None = seen("docker-no-kfd"),
    snap: Symptom | None = seen("docker-is-installed-as-a-snap", "docker-as-a-snap-in-words"),
    card: Gpu | None = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
    windows: Platform | None = one(system="windows"),
    spoke: Symptom | None = seen("container-cli-no-nvml-library"),
) -> Params:
    """The snap goes away, Docker Desktop may stay; what takes its place comes from the distribution, and with it NVIDIA's runtime."""
    host = system or plain
    package = engine_package("docker", str(host.get("id") or "")) if host is not None else ""
    amds = amd is not None or (card is not None and other is None)
    if amds and windows is not None:
        return {"backend": _("native Linux, or on Windows Vulkan, DirectML or AMD's Windows builds")}
    bare = "bare_" if amds else ""
    if engine is None and snap is None:
        return {"told" if spoke is not None and not bare else bare + "desktop": "docker"}  # NVIDIA's tool that speaks is installed
    return {bare + "snap": "docker", bare + "package": package or None, bare + "unknown": None if package else "docker"}
