"""What was downloaded or pulled, and what it is built for."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.cuda import driver_carries, driver_minimum
from rigup.machine.kinds import (
    Driver,
    Gpu,
    KernelModule,
    PackageSource,
    Platform,
    Symptom,
    SystemPackage,
    TensorFlow,
    Torch,
    World,
)

# -- cpu-only-torch


def _for_processors(entries: list[str]) -> bool:
    return any(entry.rstrip("/").endswith("download.pytorch.org/whl/cpu") for entry in entries)


@rule("cpu-only-torch", "likely")
def own_settings_name_the_index_for_processors(
    source: PackageSource = one(entries=Passes(_for_processors)), torch: Torch = one(available=False), gpu: Gpu | None = one(vendor=("nvidia", "amd")),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A project's or a user's settings take torch from the index that has builds for the processor alone."""
    plain = not torch.get("cuda") and not torch.get("hip")
    return plain and bool(gpu or driver) and {"index": source.entries[0]}


@rule("tensorflow-cpu-build", "likely")
def server_for_processors_was_given_gpus(
    _image: Symptom = seen("image-of-tensorflow-serving-for-processors"), world: World = one(gpu_requested=True), works: TensorFlow | None = one(gpus=Passes(bool)),
    card: Symptom | None = seen("tensorflow-made-a-device"),
) -> Verdict:  # fmt: skip
    """Its images for GPUs have that in their tag; this one was started with GPUs, and has no code for them."""
    return works is None and card is None and bool(world.fields)


# -- driver-too-old-for-wheel
def _of_the_driver(name: str) -> bool:
    return name.startswith(
        ("nvidia-driver", "nvidia-headless", "nvidia-utils", "xorg-x11-drv-nvidia", "akmod-nvidia", "kmod-nvidia")
    )


@rule("driver-too-old-for-wheel", "likely")
def installed_driver_package_is_below_the_builds_minimum(
    package: SystemPackage = one(name=Passes(_of_the_driver), state="installed"), torch: Torch = one(), driver: Driver | None = one(vendor="nvidia"),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The driver itself was not asked; the distribution's package of it is of a branch that the build does not run on."""
    have, cuda = str(package.version).partition(":")[2] or str(package.version), torch.get("cuda")
    short = have.partition("-")[0]
    alone = driver is None and platform is None and not torch.get("available")
    fails = alone and bool(cuda) and driver_carries(short, str(cuda)) is False
    return fails and {"have": short, "cuda": cuda, "branch": driver_minimum(str(cuda))}


@rule("driver-too-old-for-wheel", "likely")
def loaded_module_is_below_the_builds_minimum(
    module: KernelModule | None = one(name="nvidia", loaded=True), log: Symptom | None = seen("module-tells-its-release-as-it-loads"), torch: Torch = one(),
    driver: Driver | None = one(vendor="nvidia"), differs: Symptom | None = seen("nvml-version-mismatch", "nvml-version-mismatch-constant"),
) -> Verdict:  # fmt: skip
    """The kernel's own part tells its release, where nobody asked the driver."""
    have = str((module.get("version") if module else None) or (log.get("version") if log else None) or "")
    alone = driver is None and differs is None and not torch.get("available") and not torch.get("hip")
    cuda = torch.get("cuda")
    fails = alone and bool(have and cuda) and driver_carries(have, str(cuda)) is False
    return fails and {"have": have, "cuda": cuda, "branch": driver_minimum(str(cuda))}
