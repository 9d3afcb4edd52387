"""Whether the build of a framework serves the card and the driver that are there."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
from rigup.knowledge.rocm import override_for
from rigup.knowledge.torch_builds import (
    build,
    companions,
    newest_build,
    variant_for_pypi,
)
from rigup.machine.kinds import (
    Driver,
    Gpu,
    Package,
    PciDevice,
    Platform,
    Symptom,
    Toolkit,
    Torch,
    UnlistedVendor,
)

_GPU_MAKERS = ("nvidia", "amd")


# -- no code for any GPU
@rule("cpu-only-torch")
def its_own_report_has_no_toolkit(torch: Torch = one(available=False), gpu: Gpu = one(vendor=_GPU_MAKERS)) -> Verdict:
    """torch ran, found no GPU, and was built without any toolkit, beside a card that it could use."""
    return _for_cpu(torch) and worth_a_build(gpu)


@rule("cpu-only-torch")
def its_files_have_no_toolkit(
    torch: Torch, gpu: Gpu = one(vendor=_GPU_MAKERS), cuda: Torch | None = one(cuda=Passes(bool)), hip: Torch | None = one(hip=Passes(bool)),
    plugin: Package | None = one(name="torch-directml"), asked: Symptom | None = seen("directml-used", "directml-asked-for"),
) -> Verdict:  # fmt: skip
    """The files of an environment tell of no toolkit. Where another environment has one it matters less; DirectML needs none."""
    if torch.knows("available") or not _for_cpu(torch) or _for_the_screen(gpu) or not worth_a_build(gpu):
        return False
    if asked or (plugin and plugin.get("env") == torch.get("env")):
        return False
    return {"severity": "warning"} if cuda or hip else True


@rule("cpu-only-torch", "possible")
def somebody_asked_it_and_shows_nothing_else(
    torch: Torch = one(available=False), gpu: Gpu | None = None, platform: Platform | None = None,
    none: Symptom | None = seen("report-without-a-gpu", "lightning-mps-unavailable", tag="macs other-accelerators"), screen: PciDevice | None = one(class_code="0300"),
) -> Verdict:  # fmt: skip
    """A session in which torch says no, and whose version says why; whether there is a card is not told, nor lspci's list shown."""
    return gpu is None and platform is None and none is None and screen is None and _for_cpu(torch)


@rule("cpu-only-torch", "likely")
def a_program_wanted_cuda_of_it(
    torch: Torch = one(available=False), _wanted: Symptom = seen("yolo-invalid-cuda"), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """Somebody asked a program for a CUDA device, and its torch is a build for the CPU."""
    return torch.knows("version") and _for_cpu(torch) and (gpu is None or worth_a_build(gpu))


@rule("cpu-only-torch", "likely")
def a_toolkit_was_installed_for_it(
    torch: Torch = one(available=False), _toolkit: Toolkit = one(name="cuda"), gpu: Gpu | None = None,
    none: Symptom | None = seen("report-without-a-gpu"),
) -> Verdict:  # fmt: skip
    """A report that ends before it comes to the cards: a build for the CPU beside a CUDA toolkit."""
    return gpu is None and none is None and torch.knows("version") and _for_cpu(torch)


@rule("cpu-only-torch", "likely")
def a_program_found_no_gpu_code(
    _said: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-compiled-in-other-letters", "torch-not-linked-with-cuda", tag="torch-without-cuda"), platform: Platform | None = None,
    torch: Torch | None = None, mac: Symptom | None = seen(tag="macs"), card: Gpu | None = one(vendor="nvidia"),
    works: Torch | None = one(available=True), other: Symptom | None = seen(tag="other-accelerators"),
) -> Verdict:  # fmt: skip
    """torch says so itself; where one computes, or another accelerator does, somebody else spoke. On a Mac there is no such build, and a build for Intel has another device."""
    if (platform and platform.get("system") == "macos") or (mac and platform is None and card is None):
        return False
    return (
        works is None
        and other is None
        and not (
            torch
            and (
                torch.get("cuda")
                or torch.get("mps_built")
                or torch.get("xpu_available")
                or "+xpu" in str(torch.get("version"))
            )
        )
    )


@rule("cpu-only-torch")
def conda_chose_the_cpu_build(
    package: Package = one(manager="conda", name=("cpuonly", "pytorch", "pytorch-cpu", "pytorch-mutex", "libtorch")),
    gpu: Gpu = one(vendor=_GPU_MAKERS), torch: Torch | None = None, other: Torch | None = one(cuda=Passes(bool)),
) -> Verdict:  # fmt: skip
    """conda names the variant in the build string; here it is known that a card is there. Of several environments it is one."""
    works = torch and (torch.get("available") or torch.get("cuda"))
    if not _cpu_variant(package) or not worth_a_build(gpu) or works:
        return False
    return {"severity": "warning"} if other else True


@rule("cpu-only-torch", "likely")
def pypis_wheel_for_windows(
    package: Package = one(manager="pip", name="torch"), platform: Platform = one(system="windows"), gpu: Gpu = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Without a local version it is PyPI's, and what PyPI has for Windows the table knows."""
    if (
        "+" in package.version
        or platform.get("wsl")
        or (torch and (torch.get("available") or torch.get("cuda") or torch.get("hip")))
    ):
        return False
    return variant_for_pypi(package.version, "windows") == "cpu" and worth_a_build(gpu)


@rule("cpu-only-torch", "likely")
def somebody_shows_a_list_of_cpu_builds(
    package: Package = one(manager="conda", name=("cpuonly", "pytorch", "pytorch-cpu", "pytorch-mutex", "libtorch")),
    platform: Platform | None = None, gpu: Gpu | None = None, torch: Torch | None = None,
    none: Symptom | None = seen("virtual-display-in-windows", tag="display-list-without-nvidia"), unlisted: UnlistedVendor | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A list of packages is all that there is to see: who shows it looks for the GPU in it, unless what the bus has is shown too."""
    seen_none = none is not None or unlisted is not None
    known = platform is not None or gpu is not None or (torch is not None and torch.knows("available"))
    return _cpu_variant(package) and not known and not seen_none


@rule("cpu-only-torch", "likely")
def toolkit_lies_beside_a_cpu_build(
    package: Package = one(manager="conda", name=("pytorch", "pytorch-mutex", "libtorch")), toolkit: Package = one(manager="conda", name=("cudatoolkit", "pytorch-cuda")),
    torch: Torch | None = None, mac: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """Both were asked for together, and the solver gave the build that has no use for the toolkit."""
    works = torch is not None and (torch.get("available") or torch.get("cuda"))
    return _cpu_variant(package) and package.get("env") == toolkit.get("env") and mac is None and not works


@rule("cpu-only-torch", "possible")
def nothing_but_conda_forge_was_asked(
    _asked: Symptom = seen("conda-forge-alone"), torch: Torch = one(available=False), gpu: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """Solved on a channel that gives CPU builds where it sees no driver; the version line alone would settle it."""
    return not torch.get("cuda") and not torch.get("hip") and (gpu is None or worth_a_build(gpu))


def _for_cpu(torch: Torch) -> bool:
    return torch.cuda is None and torch.get("hip") is None and "+xpu" not in str(torch.get("version"))


def _cpu_variant(package: Package) -> bool:
    """`py3.8_cpu_0`, `cpu_generic_py311`, and the package whose name says it."""
    return package.name in ("cpuonly", "pytorch-cpu") or "cpu" in str(package.get("build") or "")


def _for_the_screen(gpu: Gpu) -> bool:
    """Graphics that came with a processor is mostly there for the screen."""
    return gpu.vendor == "amd" and gpu.get("integrated") is not False


def worth_a_build(gpu: Gpu) -> bool:
    """Whether some build would serve the card; a guest's card is not ours."""
    isa = gpu.get("isa")
    if gpu.get("driver") == "vfio-pci":
        return False
    if isa and newest_build(isa) is None:  # a card of its own may run on a sibling's code
        return gpu.get("integrated") is False and override_for(isa) is not None
    return bool(isa) or gpu.vendor == "nvidia"


# -- the driver
@rule("driver-too-old-for-wheel")
def driver_below_the_builds_minimum(
    torch: Torch = one(), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None
) -> Verdict:
    """The driver does not carry the toolkit's major (before 11: its very version)."""
    if torch.get("available") or torch.get("hip") or torch.cuda is None:
        return False
    if driver_carries(driver.version, torch.cuda, _system(platform)) is not False:
        return False
    return {"have": driver.version, "cuda": torch.cuda, "branch": driver_minimum(torch.cuda, _system(platform))}


@rule("driver-too-old-for-wheel", "likely")
def asked_for_more_than_the_driver_carries(
    asked: Symptom = seen("conda-wants-cuda", "pip-wants-cuda"), driver: Driver = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """What was installed is known from the command alone."""
    want = asked.get("want") or f"{asked.get('major')}.{asked.get('minor')}"
    if (torch and (torch.get("available") or torch.get("cuda"))) or driver_carries(driver.version, want) is not False:
        return False
    return {"have": driver.version, "cuda": want, "branch": driver_minimum(want)}


@rule("driver-too-old-for-wheel", "possible")
def initialisation_fails_on_a_driver_below_all(
    _said: Symptom = seen("cuda-init-failed-no-gpu"), driver: Driver = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Which build it is nobody tells; the releases that speak so are made for a newer major of CUDA."""
    carried, unknown = driver.get("cuda") or cuda_of_driver(driver.version), torch is None or not torch.knows("cuda")
    return unknown and bool(carried) and version_key(str(carried)) < version_key("11") and {"have": driver.version}


@rule("driver-too-old-for-wheel", "likely")
def pypis_build_wants_more(
    torch: Torch = one(available=False), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None
) -> Verdict:
    """A plain version is mostly PyPI's build; which CUDA that has, the table knows."""
    if torch.knows("cuda") or "+" in torch.version or _system(platform) != "linux":
        return False
    row = build(torch.version)
    if row is None or row.extrapolated or not row.cuda or driver_carries(driver.version, row.cuda) is not False:
        return False
    return {"have": driver.version, "cuda": row.cuda, "branch": driver_minimum(row.cuda)}


def _system(platform: Platform | None) -> str:
    """Of WSL the Linux side counts."""
    return "windows" if platform and platform.get("system") == "windows" else "linux"


# -- torchvision
@rule("torch-torchvision-mismatch")
def torchvision_misses_its_own_operators(
    symptom: Symptom = seen("torchvision-nms-missing"), checkout: Symptom | None = seen("torchvision-of-torch-hub"), torch: Package | None = one(name=("torch", "pytorch")),
    vision: Package | None = one(name="torchvision"),
) -> Verdict:  # fmt: skip
    """They are compiled against one release of torch; the sources that torch.hub imports in their place have none, whatever is installed."""
    friends = companions(str(torch.version)) if torch else None
    pair = (
        friends is not None
        and vision is not None
        and version_key(friends.torchvision)[:2] == version_key(str(vision.version))[:2]
    )
    return not (checkout and pair) and {**symptom.values(), "companion": "torchvision"}
