"""What people say of where a program runs, together with a complaint: a Mac's container, a guest, a hosted notebook, a Jetson.

Words prove less than a report: where a report tells the same or the contrary, its own rules decide.
"""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import GPU_NOT_USED, MACS, NOTEBOOKS
from rigup.knowledge.apple import next_mps_minimum
from rigup.knowledge.cuda import driver_carries
from rigup.knowledge.pythons import pythons
from rigup.machine.kinds import Driver, Gpu, Jetson, Platform, PythonEnv, Symptom, Torch, Variable

_ENGINES = ("docker-in-words", "container-in-words", "speaks-of-a-container")
_LEFT_OUT = ("nvidia-smi-none-in-words", "nvidia-smi-no-devices", "nvidia-smi-no-handle")
_NOT_STARTED = ("nvrm-init-adapter-failed", "amdgpu-init-fatal", "nvrm-bar-invalid")
_GUESTS = (
    "passthrough-in-words", "passed-through-in-words", "guest-in-words", "virtual-machine-in-words", "hypervisor-in-words",
    "virsh-in-words", "guest-named-in-words",
)  # fmt: skip
_JETSONS = ("jetson-in-words", "tegra-in-words", "orin-in-words")
_MPS_ANSWERS = (
    "mps-wants-newer-macos", "mps-version-or-device", "mps-operator-missing", "mps-operator-not-run", "mps-no-float64", "mps-no-double",
    "mps-out-of-memory", "mps-not-built", "mps-not-linked", "mps-operator-falls-back",
)  # fmt: skip
_LOST = ("xid-79", "gpu-fallen-off", "nvidia-smi-gpu-lost", "nova-core-bound")


# -- containers on a Mac
@rule("mps-inside-linux-container", "likely")
def engine_of_a_mac_was_asked_for_gpus(
    said: Symptom = seen("docker-no-device-driver"), _mac: Symptom = seen(*MACS), nvidia: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """No engine on a Mac can give what was asked for."""
    return nvidia is None and {"said": said.id}


@rule("mps-inside-linux-container", "likely")
def no_gpu_in_a_container_of_a_mac(
    engine: Symptom = seen(*_ENGINES), _mac: Symptom = seen(*MACS), nvidia: Gpu | None = one(vendor="nvidia"),
    missed: Symptom = seen("gpu-missed-in-words", "gpu-missed-in-small-letters", "slow-in-words"),
    native: Torch | None = one(mps_available=True), platform: Platform | None = one(system=("windows", "linux")),
) -> Verdict:  # fmt: skip
    """Somebody on a Mac misses the GPU in a container."""
    elsewhere = platform is not None and not str(platform.get("release", "linuxkit")).endswith("linuxkit")
    return nvidia is None and native is None and not elsewhere and {"said": missed.id, "engine": engine.id}


# -- guests
@rule("vm-passthrough-misconfigured", "likely")
def guest_cannot_use_its_card_as_people_say(
    said: Symptom = seen(*_LEFT_OUT, *_NOT_STARTED), guest: Symptom = seen(*_GUESTS),
    lost: Symptom | None = seen(*_LOST), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The driver is loaded and finds no card, or the kernel cannot start it, in a guest that was given one."""
    wsl = platform is not None and platform.get("wsl")
    return lost is None and not wsl and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "likely")
def card_does_not_start_in_a_guest_as_people_say(
    said: Symptom = seen("fails-in-a-guest-in-words"), guest: Symptom = seen("passthrough-in-words", "passed-through-in-words", "guest-in-words"),
    lost: Symptom | None = seen(*_LOST),
) -> Verdict:  # fmt: skip
    """Nothing but the person's words: the card was passed on and does not work there."""
    return lost is None and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "likely")
def windows_refuses_the_card_of_a_guest(
    said: Symptom = seen("code-43-in-words"), guest: Symptom = seen(*_GUESTS), wsl: Platform | None = one(wsl=(1, 2))
) -> Verdict:
    """Device manager's number for a driver that stopped the card: in a guest, mostly one that notices the hypervisor."""
    return wsl is None and {"said": said.id, "guest": guest.id}


@rule("vm-passthrough-misconfigured", "possible")
def passing_on_fails_as_people_say(
    said: Symptom = seen("passthrough-fails-in-words"), guest: Symptom = seen("guest-named-in-words", "guest-in-words", "virtual-machine-in-words", "virsh-in-words"),
    lost: Symptom | None = seen(*_LOST), wsl: Platform | None = one(wsl=(1, 2)), engine: Symptom | None = seen(*_ENGINES),
) -> Verdict:  # fmt: skip
    """Only the person's word that the card was to be passed on, and does not work."""
    return lost is None and wsl is None and engine is None and {"said": said.id, "guest": guest.id}


@rule("uvm-device-missing", "likely")
def unified_memory_is_not_given_to_a_linux_container(
    where: Symptom = seen("lxc-in-words", "lxc-in-capitals"), said: Symptom = seen("cuda-999-in-words", "cuda-999", "cuda-999-constant", "cuda-999-runtime"),
    slept: Symptom | None = seen("suspend-happened", "suspend-finished-systemd"),
) -> Verdict:  # fmt: skip
    """The host makes that node at its first use: what is handed on at boot comes without it, or with the number of another."""
    return slept is None and {"said": said.id, "where": where.id}


# -- WSL
@rule("wsl-gpu-in-tcc-mode", "likely")
def card_computes_only_as_people_say(
    said: Symptom = seen("tcc-in-words"), platform: Platform | None = one(wsl=(1, 2)), spoken: Symptom | None = seen("wsl-lived-in", "wsl-in-small-letters"),
    drawing: Gpu | None = one(driver_model="WDDM"), reached: Symptom | None = seen("wddm-reached-in-words"),
) -> Verdict:  # fmt: skip
    """Somebody speaks of WSL and of the mode in which Windows keeps a card to itself."""
    return bool(platform or spoken) and drawing is None and reached is None and {"said": said.id}


# -- containers that were asked for no GPU
@rule("container-without-gpu", "likely")
def engine_was_asked_for_none_of_them(
    asked: Symptom = seen("no-gpus-asked-for"), said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "nvidia-smi-not-installed", "cuda-no-device", *GPU_NOT_USED)
) -> Verdict:  # fmt: skip
    """The option wants a number of GPUs, and none is one of them; people mean the first."""
    return {"option": "--gpus=all", "asked": asked.id, "said": said.id}


# -- conda's choice
@rule("cpu-only-torch", "possible")
def conda_was_asked_for_a_toolkit_and_torch_sees_none(
    asked: Symptom = seen("conda-wants-cuda"), torch: Torch = one(available=False), driver: Driver = one(vendor="nvidia"), gpu: Gpu | None = one(vendor=("amd", "intel")),
    other: Symptom | None = seen("torch-driver-too-old", "cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuda-init-failed-no-gpu", "torch-found-no-driver"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """The driver answers and carries what was asked for, and no message tells of another fault: conda mostly chose the build for the processor."""
    told = torch.get("cuda") or torch.get("hip") or gpu is not None or other is not None or mask is not None
    return not told and driver_carries(driver.version, str(asked.get("want"))) is not False and {"said": asked.id}


# -- who is let in
@rule("render-group-missing", "likely")
def seen_after_a_login_at_the_seat(
    said: Symptom = seen("seat-login-helped"), card: Gpu | None = one(vendor=("intel", "amd")), named: Symptom | None = seen("intel-gpu-in-words", "amd-radeon-named"),
) -> Verdict:  # fmt: skip
    """Who sits at the machine is let in for the time; the group lets him in for good."""
    vendor = card.get("vendor") if card else "intel" if named and named.id == "intel-gpu-in-words" else "amd"
    return bool(card or named) and {"said": said.id, "vendor": vendor}


# -- Macs
@rule("mps-x86-python-under-rosetta", "likely")
def takes_an_apple_chip_for_intels(
    said: Symptom = seen("apple-chip-reports-intel"), engine: Symptom | None = seen(*_ENGINES)
) -> Verdict:
    """Only a program for Intel's processors is told so; in a container it may be the image."""
    return engine is None and {"chip": None, "said": said.id}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_and_no_metal_device(
    said: Symptom = seen("metal-not-created"), box: Symptom = seen("sandbox-named", "sandbox-variable-named")
) -> Verdict:
    """The text speaks of a sandbox, and Metal gives a program nothing in it."""
    return {"said": said.id, "box": box.id}


@rule("mps-x86-python-under-rosetta", "likely")
def built_for_intel_where_an_apple_chip_is_named(
    said: Symptom = seen("mac-build-for-intel", "illegal-hardware-instruction", "python-says-intel"), chip: Symptom = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """The interpreter builds for Intel's processors, or runs what was built for them."""
    return {"chip": None, "said": said.id, "where": chip.id}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apples_chips_is_refused(
    said: Symptom = seen("wheel-tag-refused"), python: PythonEnv = one(), chip: Symptom = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """It is made for this very Python, and for Apple's chips: so the interpreter is not."""
    tag = str(said.get("tag")).split(".")[0]
    mine = "cp" + "".join(str(python.version).split(".")[:2])
    return (
        str(said.get("os")).startswith("macosx")
        and "arm64" in said.os
        and tag == mine
        and {"chip": None, "where": chip.id}
    )


@rule("cpu-instruction-set-missing", "possible")
def shell_tells_of_an_illegal_instruction(
    said: Symptom = seen("illegal-hardware-instruction"), mac: Symptom | None = seen("apple-chip-named", "apple-silicon-in-words", "apple-chip-in-words")
) -> Verdict:  # fmt: skip
    """zsh's words for the same signal."""
    return mac is None and {"said": said.id}


@rule("mps-macos-too-old", "possible")
def mps_is_missed_on_an_older_system(
    said: Symptom = seen("mps-missed-in-words"), platform: Platform = one(system="macos"), torch: Torch | None = None,
    other: Symptom | None = seen(*_MPS_ANSWERS),
) -> Verdict:  # fmt: skip
    """Which torch it is nobody tells; a newer one asks for a newer system."""
    minimum = next_mps_minimum(platform.version)
    told = torch is not None and (torch.knows("version") or torch.get("mps_available"))
    return other is None and not told and minimum is not None and {"minimum": minimum, "said": said.id}


@rule("no-gpu-present", "likely")
def cuda_is_wanted_of_a_mac(
    said: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"), mac: Symptom | None = seen(*MACS), platform: Platform | None = None,
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """No build for Macs has CUDA: the program asks for the wrong device, which is no fault of the machine."""
    system = platform.get("system") if platform else "macos" if mac else None
    return system == "macos" and card is None and {"said": said.id}


# -- Jetsons
@rule("jetson-generic-wheel", "likely")
def torch_without_cuda_on_a_jetson(
    said: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"), where: Symptom = seen(*_JETSONS),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """torch says so itself; on a Jetson the build that has CUDA is NVIDIA's own."""
    ours = torch is not None and (torch.get("cuda") or ".nv" in str(torch.get("version")))
    return not ours and {"said": said.id, "where": where.id}


@rule("jetson-generic-wheel", "likely")
def build_for_the_processor_on_a_jetson(
    where: Symptom = seen(*_JETSONS), torch: Torch = one(available=False), module: Jetson | None = None
) -> Verdict:
    """Its version says that it was built for the processor; a report that knows the module has rules of its own."""
    return module is None and "+cpu" in str(torch.get("version")) and {"where": where.id}


@rule("jetson-generic-wheel", "possible")
def torch_sees_nothing_on_a_jetson(
    where: Symptom = seen(*_JETSONS), torch: Torch = one(available=False), driver: Driver | None = one(vendor="nvidia"),
    old: Symptom | None = seen("torch-driver-too-old"),
) -> Verdict:  # fmt: skip
    """Which build it is nobody tells; on a Jetson it is mostly this."""
    known = torch.get("cuda") or ".nv" in str(torch.get("version"))
    return not known and driver is None and old is None and {"where": where.id}


@rule("container-runtime-without-jetson-support", "likely")
def container_tool_looks_for_a_desktop_driver(
    said: Symptom = seen(
        "container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library"
    ),
    where: Symptom = seen(*_JETSONS),
) -> Verdict:
    """On a Jetson the driver's libraries are handed on by a list of files; a tool that loads them by name is not set up for one."""
    return {"said": said.id, "where": where.id}


@rule("container-runtime-without-jetson-support", "possible")
def libraries_are_not_handed_on_to_a_container(
    said: Symptom = seen("not-mounted-in-words"), where: Symptom = seen(*_JETSONS), engine: Symptom = seen(*_ENGINES)
) -> Verdict:
    """The person's words alone; that list is then mostly not there, or for another release."""
    return {"said": said.id, "where": where.id, "engine": engine.id}


# -- hosted notebooks
@rule("no-gpu-present", "likely")
def notebook_without_an_accelerator(
    where: Symptom = seen(*NOTEBOOKS), said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "cuda-no-device-constant", "driver-asked-in-words"),
    gpu: Gpu | None = one(vendor="nvidia"), driver: Driver | None = None, mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """A hosted notebook has a GPU only where its settings ask for one."""
    return gpu is None and driver is None and mask is None and {"said": said.id, "where": where.id, "severity": "error"}


@rule("no-gpu-present", "possible")
def notebook_in_which_torch_sees_none(
    where: Symptom = seen(*NOTEBOOKS), torch: Torch = one(available=False), gpu: Gpu | None = None, driver: Driver | None = None,
    other: Symptom | None = seen("torch-driver-too-old", "torch-not-compiled-with-cuda"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """As above, where torch says no more than that."""
    plain = "+cpu" not in str(torch.get("version")) and other is None
    return plain and gpu is None and driver is None and mask is None and {"where": where.id, "severity": "error"}


# -- what NVIDIA's torch for Jetson cannot be at fault for
@rule("binary-arch-missing", "likely")
def other_library_has_no_code_for_the_module(
    said: Symptom = seen("no-kernel-image"), torch: Torch = one(), where: Symptom | None = seen(*_JETSONS), module: Jetson | None = None
) -> Verdict:  # fmt: skip
    """NVIDIA's own build has code for its modules: what fails is beside it, torchvision mostly."""
    return ".nv" in str(torch.get("version")) and bool(where or module) and {"said": said.id}


@rule("extension-without-platform-build", "likely")
def package_for_another_processor(
    said: Symptom = seen("pip-no-version", "pip-no-distribution"), where: Symptom = seen("aarch64-in-words", *_JETSONS)
) -> Verdict:
    """Its wheels with CUDA are made for x86-64 alone."""
    return (
        said.name == "onnxruntime-gpu"
        and said.get("offered", "none") in ("none", "")
        and {"name": said.name, "where": where.id}
    )


# -- wheels
@rule("python-version-without-wheels", "likely")
def nothing_was_offered_to_a_new_python(
    said: Symptom = seen("pip-no-version", offered="none"), _whole: Symptom = seen("pip-no-distribution"), python: PythonEnv = one(), offline: Symptom | None = seen("pip-connection-broken", "pip-could-not-fetch"),
    alone: Symptom | None = seen("pip-single-index", "aarch64-in-words", *_JETSONS), platform: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """Wheels for new Pythons come late: those that the table has today were not there yet, or are not in that index.

    pip's second line tells its output from a sentence that quotes it.
    """
    newest = pythons(said.name)[:2]
    mine = ".".join(str(python.version).split(".")[:2])
    return (
        offline is None
        and alone is None
        and platform is None
        and mine in newest
        and {"name": said.name, "have": python.version}
    )


@rule("python-version-without-wheels", "possible")
def wheel_is_refused_and_nobody_tells_the_python(
    said: Symptom = seen("wheel-tag-refused"),
    python: PythonEnv | None = None,
    wrong: Platform | None = one(system="windows"),
) -> Verdict:
    """A wheel is made for one Python on one system; where it is of the right system, it is mostly the Python."""
    foreign = wrong is not None and "win" not in str(said.get("os"))
    return python is None and not foreign and str(said.get("tag")).startswith("cp") and {"name": said.get("name")}


@rule("python-version-without-wheels", "possible")
def wheel_of_this_very_python_is_refused(
    said: Symptom = seen("wheel-tag-refused"),
    python: PythonEnv = one(),
    platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:
    """The tag is that of the Python that was told: then pip is mostly another one's."""
    mine = "cp" + "".join(str(python.version).split(".")[:2])
    linux = "linux" in str(said.get("os")) and platform is None
    return linux and str(said.get("tag")).split(".")[0] == mine and {"name": said.get("name"), "have": python.version}
