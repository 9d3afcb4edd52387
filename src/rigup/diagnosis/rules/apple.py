"""Macs: the system that torch asks for, the Python that runs, and what keeps a process from the GPU."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.knowledge.apple import is_older, mps_minimum, next_mps_minimum
from rigup.machine.kinds import Cpu, Gpu, Launch, Platform, PythonEnv, Symptom, Torch, Variable

_INTEL, _ARM = "x86_64", "arm64"
_MAC_CONTAINERS = ("linuxkit", "orbstack")  # kernels of the virtual machines in which a Mac's containers run


# -- the system
@rule("mps-macos-too-old")
def system_older_than_the_build_asks(
    torch: Torch = one(mps_built=True, mps_available=False), platform: Platform = one(system="macos")
) -> Verdict:
    """Built in, not offered, and the table knows the lowest system for this release."""
    minimum = mps_minimum(torch.version)
    return minimum is not None and is_older(platform.version, minimum) and {"minimum": minimum}


@rule("mps-macos-too-old")
def system_older_than_the_message_says(
    symptom: Symptom = seen(tag="apple-wants"), platform: Platform = one(system="macos")
) -> Verdict:
    """The message names a version, and the system is below it."""
    want = str(symptom.get("want"))
    return is_older(platform.version, want) and {"minimum": want}


@rule("mps-macos-too-old")
def system_older_than_the_installed_build(
    env: PythonEnv, platform: Platform = one(system="macos", architecture=_ARM), torch: Torch = one(hip=None, cuda=None)
) -> Verdict:
    """A torch for Apple's chips in an environment of a system that it does not serve."""
    minimum = mps_minimum(torch.version)
    ours = env.get("machine", _ARM) == _ARM and torch.get("platform", "macos").startswith("macos")
    old = minimum is not None and is_older(platform.version, minimum)
    return ours and old and not torch.get("mps_available") and {"minimum": minimum}


@rule("mps-macos-too-old", "likely")
def message_of_an_old_system(
    symptom: Symptom = seen("mps-wants-newer-macos"), platform: Platform | None = one(system="macos"), box: Symptom | None = seen("sandbox-variable-named", "sandbox-named", "sandbox-option-named")
) -> Verdict:  # fmt: skip
    """Only the message is there; mostly it says the truth."""
    return box is None and (platform is None or not platform.knows("version")) and {"minimum": symptom.get("want")}


@rule("mps-macos-too-old", "likely")
def message_names_an_older_minimum(
    symptom: Symptom = seen("mps-wants-newer-macos"),
    platform: Platform = one(system="macos"),
    torch: Torch | None = None,
) -> Verdict:
    """Releases that raised their minimum went on to name the one before."""
    minimum = _behind(symptom, platform, torch)
    return minimum is not None and {"minimum": minimum}


def _behind(symptom: Symptom, platform: Platform, torch: Torch | None) -> str | None:
    """The minimum that was meant, where the message names one that this system has."""
    want, have = str(symptom.get("want")), platform.version
    if is_older(have, want) or want.partition(".")[0] != have.partition(".")[0]:
        return None
    known = mps_minimum(torch.version) if torch is not None and torch.knows("version") and torch.version else None
    minimum = known or next_mps_minimum(have)
    return minimum if minimum and is_older(have, minimum) else None


# -- the Python
@rule("mps-x86-python-under-rosetta")
def torch_for_intel_on_an_apple_chip(
    torch: Torch = one(platform="macos-x86_64"), chip: Gpu = one(vendor="apple")
) -> Verdict:
    """The report names both."""
    return {"chip": chip.get("name"), "seen": torch.platform}


@rule("mps-x86-python-under-rosetta")
def python_for_intel_on_an_apple_chip(
    env: PythonEnv = one(machine=_INTEL), chip: Gpu = one(vendor="apple"), others: Every[PythonEnv] = every(PythonEnv)
) -> Verdict:
    """An interpreter for Intel's processors, and Apple's GPU."""
    return not _beside_its_own(env, others) and {"chip": chip.get("name"), "seen": env.machine}


@rule("mps-x86-python-under-rosetta")
def python_for_intel_on_an_arm_system(
    env: PythonEnv = one(machine=_INTEL), platform: Platform = one(system="macos", architecture=_ARM), others: Every[PythonEnv] = every(PythonEnv),
) -> Verdict:  # fmt: skip
    """The kernel is Apple's own, the interpreter is not for it."""
    return not _beside_its_own(env, others) and {"chip": None, "seen": (env.machine, platform.architecture)}


def _beside_its_own(env: PythonEnv, others: Every[PythonEnv]) -> bool:
    """Whether it lies there unused, beside an environment for Apple's processors that is the one in use."""
    used = any(other.get("active") and other.get("machine") == _ARM for other in others)
    return used and not env.get("active")


@rule("mps-x86-python-under-rosetta")
def installed_torch_for_intel_on_an_arm_system(
    torch: Torch = one(platform="macos-x86_64"), platform: Platform = one(system="macos", architecture=_ARM)
) -> Verdict:
    """Its wheel's tag tells."""
    return {"chip": None, "seen": (torch.platform, platform.architecture)}


@rule("mps-x86-python-under-rosetta", "likely")
def library_says_so(_said: Symptom = seen("avx-missing-under-rosetta"), cpu: Cpu | None = None) -> Verdict:
    """jaxlib's own words, where nothing speaks of an Intel processor."""
    return cpu is None or "Intel" not in cpu.get("model", "")


@rule("mps-x86-python-under-rosetta", "likely")
def x86_library_where_an_apple_chip_is_named(
    _said: Symptom = seen("jaxlib-wants-avx", "tf-instructions-missing"), chip: Gpu | None = one(vendor="apple"), named: Symptom | None = seen("apple-chip-named")
) -> Verdict:  # fmt: skip
    """Apple's chips have no AVX, and a library for them does not ask for it: this one is for Intel's."""
    return (chip is not None or named is not None) and {"chip": chip and chip.get("name")}


@rule("cpu-instruction-set-missing", "likely")
def library_wants_avx(
    symptom: Symptom = seen("jaxlib-wants-avx"), chip: Gpu | None = one(vendor="apple"), named: Symptom | None = seen("apple-chip-named", "macos-named", "mac-named")
) -> Verdict:  # fmt: skip
    """Elsewhere the processor, or what a virtual machine shows of it, is at fault."""
    return chip is None and named is None and {"said": symptom.id}


@rule("cpu-instruction-set-missing")
def tensorflow_wants_more(
    symptom: Symptom = seen("tf-instructions-missing"), chip: Gpu | None = one(vendor="apple"), named: Symptom | None = seen("apple-chip-named")
) -> Verdict:  # fmt: skip
    """It names what it was compiled for; under Rosetta it is the build that is another processor's."""
    return chip is None and named is None and {"want": symptom.get("want")}


@rule("mps-x86-python-under-rosetta", "likely")
def parts_for_two_processors(mixed: Symptom = seen("mixed-architecture", need=_INTEL)) -> Verdict:
    """A process for Intel's processors loads a library for Apple's: only a Mac with Rosetta can try."""
    return str(mixed.get("have")).startswith(_ARM)


# -- containers and sandboxes
@rule("mps-inside-linux-container")
def container_and_a_program_that_wants_it(
    platform: Platform = one(system="linux"),
    symptom: Symptom = seen("mps-not-built", "mps-not-linked", "mps-version-or-device", "lightning-mps-unavailable"),
) -> Verdict:
    """A Mac's container, and a message about MPS."""
    return _in_mac_container(platform) and {"said": symptom.id}


@rule("mps-inside-linux-container")
def container_and_torch_without_it(
    platform: Platform = one(system="linux"), torch: Torch = one(mps_available=False)
) -> Verdict:
    """Somebody asked torch whether it has MPS there."""
    return _in_mac_container(platform) and not torch.get("available")


@rule("mps-inside-linux-container")
def container_and_a_wish(platform: Platform = one(system="linux"), want: Launch = one(accelerator="mps")) -> Verdict:
    """The program names the device."""
    return _in_mac_container(platform) and {"wish": want.accelerator}


@rule("mps-inside-linux-container", "likely")
def container_and_a_question(
    platform: Platform = one(system="linux"), asked: Symptom = seen("mps-asked"), torch: Torch | None = None
) -> Verdict:
    """The text asks for MPS, and what it shows is a Mac's container."""
    return _in_mac_container(platform) and not (torch and torch.get("available")) and {"asked": asked.id}


@rule("mps-inside-linux-container", "likely")
def container_started_on_a_mac(
    symptom: Symptom = seen("mps-not-built", "mps-not-linked"), _box: Symptom = seen("compose-log", "docker-build-log"),
    _mac: Symptom = seen("mac-named", "macos-named"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A container's log with a message about MPS, and a text that speaks of a Mac."""
    return nvidia is None and {"said": symptom.id}


@rule("mps-inside-linux-container", "likely")
def container_without_any_gpu(platform: Platform = one(system="linux"), torch: Torch = one(available=False)) -> Verdict:
    """No more than worth knowing, where nobody asked for a GPU."""
    return _in_mac_container(platform) and torch.get("cuda") is None and {"severity": "note"}


def _in_mac_container(platform: Platform) -> bool:
    release = platform.get("release") or ""
    return any(word in release for word in _MAC_CONTAINERS) and platform.get("architecture", "aarch64") in (
        "aarch64",
        _ARM,
    )


@rule("mps-blocked-by-sandbox", "likely")
def message_asks_for_what_is_there(
    symptom: Symptom = seen(tag="apple-wants"), platform: Platform = one(system="macos"), env: PythonEnv | None = None, torch: Torch | None = None
) -> Verdict:  # fmt: skip
    """It names a version, and the system has it: something else hides the device."""
    want = str(symptom.get("want"))
    native = (env is None or env.get("machine", _ARM) == _ARM) and platform.get("architecture", _ARM) == _ARM
    fulfilled = not is_older(platform.version, want) and not platform.version.startswith("10.")
    return native and fulfilled and _behind(symptom, platform, torch) is None and {"want": want}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_and_no_device(
    _box: Symptom = seen("sandbox-named"),
    torch: Torch = one(mps_available=False),
    platform: Platform = one(system="macos"),
) -> Verdict:
    """The text speaks of a sandbox, and the system is new enough."""
    minimum = mps_minimum(torch.version) if torch.knows("version") else None
    return minimum is None or not is_older(platform.version, minimum)


@rule("mps-blocked-by-sandbox")
def sandbox_variable_and_no_device(
    box: Variable = one(name=("CODEX_SANDBOX", "APP_SANDBOX_CONTAINER_ID", "SANDBOX_RUNTIME")),
    torch: Torch = one(mps_available=False),
) -> Verdict:
    """The process runs in a sandbox, and says so itself."""
    return bool(box.value) and {"seen": torch.mps_available}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_variable_and_the_message(
    _box: Symptom = seen("sandbox-variable-named", "sandbox-named"), symptom: Symptom = seen(tag="apple-wants"), platform: Platform | None = one(system="macos")
) -> Verdict:  # fmt: skip
    """The variable stands in the text, and nothing shows that the system is old."""
    known = platform is not None and platform.knows("version")
    return not (known and platform and is_older(platform.version, str(symptom.get("want")))) and {
        "want": symptom.get("want")
    }


@rule("mps-blocked-by-sandbox", "possible")
def built_new_enough_and_not_offered(
    torch: Torch = one(mps_built=True, mps_available=False),
    platform: Platform = one(system="macos", architecture=_ARM),
    env: PythonEnv | None = None,
) -> Verdict:
    """All that torch asks for is there."""
    minimum = mps_minimum(torch.version)
    native = env is None or env.get("machine", _ARM) == _ARM
    return native and minimum is not None and not is_older(platform.version, minimum) and {"want": minimum}


# -- memory
@rule("mps-oom-watermark", "likely")
def more_than_the_working_set(
    over: Symptom = seen("ggml-metal-over-the-set"), _failed: Symptom = seen("ggml-metal-failed")
) -> Verdict:
    """More was allocated than Metal keeps at hand, and the computation ended."""
    return {"said": over.id}


@rule("mps-oom-watermark", "likely")
def more_buffers_than_the_working_set(
    statement: Symptom = seen("metal-buffers-beside-the-set"),
    _failed: Symptom = seen("ggml-metal-failed", "ggml-metal-assertion"),
) -> Verdict:
    """llama.cpp prints what it holds beside what Metal recommends."""
    return float(statement.held) > float(statement.most) and {"held": statement.held, "most": statement.most}


@rule("mps-oom-watermark", "possible")
def computation_failed_for_no_told_reason(
    failed: Symptom = seen("ggml-metal-failed"), why: Symptom | None = seen("metal-out-of-memory", "ggml-metal-over-the-set", "metal-buffers-beside-the-set")
) -> Verdict:  # fmt: skip
    """Status 5 is "error"; mostly it is memory."""
    return why is None and {"said": failed.id}
