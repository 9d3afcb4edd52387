"""What a third look shows: a guest's made-up processor, files of another system, a package manager's own log, what works in the next line.

Each rule asks for the line that decides, and for what it is held against; alone it is silent.
"""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT, same_version
from rigup.diagnosis.rules.rocm import helps, inside_a_processor
from rigup.diagnosis.rules.told import Told
from rigup.diagnosis.rules.wheels import ILLEGAL
from rigup.knowledge.chips import runs_on
from rigup.machine.kinds import (
    Account,
    Cpu,
    Driver,
    Gpu,
    KernelModule,
    ModuleParameter,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_DIES = ("hsa-hang-exception", "gpu-memory-access-fault", "segmentation-fault", "segmentation-fault-signal")
_FAULTS = ("segmentation-fault", "segmentation-fault-signal")
_MASKS = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
_PROGRAMS = ("gromacs-task-finds-no-gpu", "lammps-finds-no-accelerator", "catboost-has-no-gpu-to-train-on", "tensorrt-starts-without-a-device", "paddle-detects-no-gpu")  # fmt: skip
_REPLACED = ("pacman-replaced-the-driver", "apt-replaced-the-driver")
_UNSEEN = (*SILENT, *NO_CUDA, "nvtop-has-nothing-to-watch")


def _with_avx2(flags: list[str]) -> bool:
    return "avx2" in flags


# -- processors
@rule("container-wrong-architecture")
def emulator_of_a_foreign_image_ends_it(
    said: Symptom = seen("emulated-processor-killed-it"), guest: Symptom | None = seen("guest-processor-made-up")
) -> Verdict:
    """qemu's emulation of single programs runs only what is of another architecture; an instruction that is refused on a guest's made-up processor is another matter."""
    return not (guest is not None and str(said.get("signal")) == "4") and {"said": said.id}


@rule("cpu-instruction-set-missing", "likely")
def guest_was_given_a_made_up_processor(
    _said: Symptom = seen(*ILLEGAL), guest: Symptom = seen("guest-processor-made-up"), cpu: Cpu | None = one(flags=Told(_with_avx2)),
) -> Verdict:  # fmt: skip
    """QEMU's plainest processors have neither AVX nor AVX2, whatever the host has."""
    return cpu is None and {"want": "AVX, AVX2", "said": guest.id}


# -- wheels
@rule("extension-without-platform-build", "likely")
def compiled_part_is_for_linux(
    said: Symptom = seen("cuda-extension-not-there", "compiled-part-not-there", "compiled-part-not-found"), listed: Symptom = seen("compiled-part-of-linux-listed"), platform: Platform = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """The file is there, and its name says that it was compiled for Linux: this system's Python does not look at it."""
    return platform.get("wsl") is None and {"name": said.get("package") or said.get("name") or listed.file}


# -- drivers
@rule("nvml-driver-library-mismatch", "likely")
def package_was_replaced_and_the_module_runs_on(
    log: Symptom = seen(*_REPLACED), module: KernelModule = one(name="nvidia", loaded=True), said: Symptom = seen(*_UNSEEN)
) -> Verdict:  # fmt: skip
    """The package manager's log has the release that runs as the one before: not restarted since."""
    stale = same_version(str(log.before), module.version) and not same_version(str(log.after), module.version)
    return stale and {"library_version": log.after, "said": said.id}


@rule("nvml-driver-library-mismatch", "likely")
def module_file_is_of_another_release_than_libcuda(
    shown: Symptom = seen("module-file-and-libcuda-asked-together"),
) -> Verdict:
    """The module that lies there for the running kernel, and the library beside it, are of two releases."""
    return not same_version(shown.module, shown.library) and {"library_version": shown.library}


@rule("nouveau-bound", "likely")
def nouveau_has_the_card_that_the_module_wants(
    _log: Symptom = seen("nouveau-at-work-in-the-log", "nouveau-in-the-log"), said: Symptom = seen("module-finds-no-device"), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The kernel's log shows nouveau at work on a card, and NVIDIA's module finds none that is free."""
    return loaded is None and driver is None and {"said": said.id}


@rule("device-node-permissions", "likely")
def module_was_told_to_close_its_nodes(
    mode: ModuleParameter = one(module="nvidia", name="NVreg_DeviceFileMode"), said: Symptom = seen(*_UNSEEN), root: Symptom = seen("root-alone-sees-it-in-nvtop", "nvidia-smi-refused-without-sudo"),
    who: Account | None = one(uid=0),
) -> Verdict:  # fmt: skip
    """An option of the module leaves others without access, and root sees the card where this account does not."""
    given = str(mode.get("running") or mode.get("configured") or "")
    return who is None and re.fullmatch(r"0?[0-7]{2}[01245]", given) is not None and {"said": said.id, "why": root.id}


@rule("mig-device-misaddressed", "likely")
def part_is_named_as_the_container_tools_name_it(
    mask: Variable = one(name="CUDA_VISIBLE_DEVICES"), card: Gpu = one(vendor="nvidia", mig=True), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """`0:1`, card and part, is understood by the container toolkit; CUDA wants a part's own UUID."""
    pair = re.fullmatch(r"[\"']?(\d{1,2}:\d{1,2})(?:,\d{1,2}:\d{1,2}){0,15}[\"']?", mask.value or "")
    works = torch is not None and torch.get("available") is True
    return not works and pair is not None and bool(card.get("partitions")) and {"named": pair[1]}


# -- places
@rule("container-without-gpu", "likely")
def program_finds_none_in_a_container_that_was_given_none(
    error: Symptom = seen(*_PROGRAMS), world: World = one(gpu_requested=False)
) -> Verdict:
    """The command that started the container names no GPU."""
    mine = not error.place.world or error.place.world.startswith("container")
    return bool(world.get("container")) and mine and {"said": error.id}


@rule("container-toolkit-missing", "likely")
def swarm_finds_no_node_and_the_toolkit_is_not_there(
    said: Symptom = seen("swarm-wants-a-node-with-a-gpu"), _none: Symptom = seen("no-program-of-the-toolkit-found")
) -> Verdict:
    """The engine offers no GPU to give, and none of the toolkit's programs is on the path."""
    return {"said": said.id}


@rule("wsl-gpu-in-tcc-mode", "likely")
def program_started_in_wsl_from_windows_finds_none(
    _typed: Symptom = seen("wsl-command-typed"), error: Symptom = seen(*NO_CUDA), card: Gpu = one(driver_model="TCC"), drawing: Gpu | None = one(driver_model="WDDM"),
) -> Verdict:  # fmt: skip
    """Windows's own list has the card by the model that WSL cannot use, and a program that is started there finds none."""
    return drawing is None and card.get("vendor", "nvidia") == "nvidia" and {"said": error.id}


# -- memory that processor and graphics share
@rule("igpu-vram-counted-without-gtt", "likely")
def total_is_the_carve_out(
    said: Symptom = seen("hip-memory-tuple", "hip-memory-figures"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """torch's total is the carve-out to the byte, and the kernel lets the graphics map many times that."""
    vram, total = gpu.vram or 0, str(said.get("total") or "")
    return card is None and vram > 0 and total == str(vram) and gpu.gtt > 2 * vram and {"said": said.id}


# -- AMD
@rule("igpu-visible-beside-dgpu", "likely")
def ends_until_one_of_two_is_shown(
    listed: Symptom = seen("chips-of-two-devices-listed"), died: Symptom = seen(*_DIES), mask: Variable = one(name=_MASKS, value=("0", "1")),
) -> Verdict:  # fmt: skip
    """torch lists a card and the graphics of a processor, in whichever order; its program ends, and is started anew with the card alone."""
    chips = (str(listed.first), str(listed.second))
    number = int(mask.value or 0)
    chosen, other = chips[number], chips[1 - number]
    return (
        inside_a_processor(other)
        and not inside_a_processor(chosen)
        and {"device": number, "severity": "error", "said": died.id, "name": mask.name}
    )


@rule("gfx-not-in-torch-wheel", "likely")
def plain_start_crashes_and_the_override_mends_it(
    torch: Torch, error: Symptom = seen(*_FAULTS), card: Gpu = one(vendor="amd"), override: Variable = one(name="HSA_OVERRIDE_GFX_VERSION"),
    _works: Symptom = seen("tensor-on-its-device"),
) -> Verdict:  # fmt: skip
    """torch's own list lacks the chip, the first operation ends the process, and with a sibling's number it computes."""
    lacks = bool(torch.get("code")) and not runs_on(card.isa, torch.code)
    return lacks and helps(card.isa, override.value) and {"gfx": card.isa, "why": error.id}
