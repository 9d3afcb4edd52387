"""What Macs and Intel's GPUs tell in single lines, where the report around them was cut away."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import closed, inside
from rigup.diagnosis.rules.memory import size
from rigup.knowledge.apple import is_older, mps_minimum
from rigup.machine.kinds import Account, DeviceNode, Gpu, Platform, PythonEnv, Symptom, Torch

_FOR_APPLE = ("mlx", "mlx-metal", "tensorflow-macos", "tensorflow-metal", "jax-metal")
_NO_INTEL = (
    "xpu-none", "xpu-none-in-small-letters", "sycl-finds-no-device", "sycl-error-device-not-found", "llama-finds-no-sycl-device",
    "xpu-smi-finds-none", "openvino-finds-no-gpu",
    "openvino-finds-no-platform", "intel-gpu-top-finds-none", "sycl-lists-processors-alone", "sycl-list-is-empty", "dpcpp-counts-none",
)  # fmt: skip
_RENDER = "/dev/dri/renderD"
_MOSTLY = 0.7  # of a card's memory held by one program: the work is too large for it


# -- Macs
@rule("mps-macos-too-old", "likely")
def message_asks_for_a_newer_system(
    said: Symptom = seen("mac-program-wants-newer-system", "mps-wants-a-newer-system-for-it", "mlx-wants-macos"), platform: Platform | None = one(system="macos")
) -> Verdict:  # fmt: skip
    """A program names the system that it wants; one that is told must be older."""
    want = str(said.get("want"))
    told = platform is not None and platform.knows("version")
    return not (told and platform and not is_older(platform.version, want)) and {"minimum": want}


@rule("mps-macos-too-old", "likely")
def refused_wheel_is_for_a_newer_macos(
    said: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system="macos")
) -> Verdict:
    """`macosx_13_0_arm64` in a wheel's name, and an older system."""
    found = re.match(r"macosx_(\d{2})_(\d{1,2})_", str(said.get("os")))
    want = f"{found[1]}.{found[2]}" if found and int(found[1]) > 11 else ""
    return bool(want) and is_older(platform.version, want) and {"minimum": want}


@rule("mps-op-not-implemented", "possible")
def operator_has_no_form_for_this_device(
    said: Symptom = seen("mps-plain-operator-missing"), _asked: Symptom = seen("mps-asked")
) -> Verdict:
    """The message names no device; the program asked for Apple's."""
    return {"operator": "convolution", "said": said.id}


@rule("mps-x86-python-under-rosetta", "likely")
def package_for_apple_chips_has_no_wheel(
    said: Symptom = seen("pip-no-version", "pip-no-distribution"), intel: Symptom | None = seen("python-says-intel"), env: PythonEnv | None = one(machine="x86_64")
) -> Verdict:  # fmt: skip
    """What is made for Apple's chips alone is asked for by a Python for Intel's."""
    name = str(said.get("name")).lower().replace("_", "-")
    return name in _FOR_APPLE and bool(intel or env) and {"chip": None, "seen": "x86_64"}


@rule("mps-x86-python-under-rosetta", "likely")
def wheel_for_apple_chips_is_refused(
    said: Symptom = seen("wheel-tag-refused"), env: PythonEnv = one(machine="x86_64"), platform: Platform | None = one(system=("linux", "windows"))
) -> Verdict:  # fmt: skip
    """Somebody took the file for Apple's chips, and the Python is one for Intel's."""
    form = re.fullmatch(r"macosx_\d{2}_\d{1,2}_arm64", str(said.get("os")))
    return bool(form) and platform is None and {"chip": None, "seen": env.machine}


@rule("mps-x86-python-under-rosetta", "possible")
def python_sees_the_compatible_system(
    env: PythonEnv = one(machine="x86_64"), platform: Platform = one(system="macos", version="10.16"), torch: Torch = one(mps_available=False), other: Gpu | None = None,
) -> Verdict:  # fmt: skip
    """An older Python for Intel's processors sees 10.16 for every later macOS; whether the chip is Apple's nobody tells."""
    return other is None and torch.mps_available is False and {"chip": None, "seen": (env.machine, platform.version)}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_is_named_and_the_device_is_not_offered(
    _box: Symptom = seen("sandbox-variable-named", "sandbox-option-named"), torch: Torch = one(mps_built=True, mps_available=False), platform: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """The build has it, and a tool that shuts programs in is at work."""
    minimum = mps_minimum(torch.version) if torch.knows("version") and torch.version else None
    old = minimum and platform is not None and platform.knows("version") and is_older(platform.version, minimum)
    return not old


# -- Intel
@rule("render-group-missing", "likely")
def none_is_found_where_the_node_is_closed(
    who: Account, node: DeviceNode, said: Symptom = seen(*_NO_INTEL), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """A tool or a program finds no GPU, and the account may not open the render node."""
    return other is None and node.path.startswith(_RENDER) and not inside(node) and closed(node, who) and {"vendor": "intel", "said": said.id}  # fmt: skip


@rule("render-group-missing", "likely")
def none_is_found_for_an_account_without_the_group(
    who: Account, said: Symptom = seen(*_NO_INTEL), node: DeviceNode | None = None, other: Gpu | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same where the node is not shown: the account is in none of the groups that open it anywhere."""
    outside = bool(who.groups) and not {"render", "video"} & set(who.groups) and who.get("uid") != 0 and who.get("user") != "root"  # fmt: skip
    return outside and node is None and other is None and guest is None and not inside(who) and {"vendor": "intel", "said": said.id}  # fmt: skip


@rule("render-group-missing", "possible")
def none_is_found_and_the_node_is_for_a_group(
    node: DeviceNode,
    said: Symptom = seen(*_NO_INTEL),
    who: Account | None = None,
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The node is there and opens for a group alone; who asks nobody tells."""
    shut = node.path.startswith(_RENDER) and node.knows("mode") and node.mode[8:9] != "w" and not node.get("acl")
    return shut and who is None and other is None and not inside(node) and {"vendor": "intel", "said": said.id}


@rule("render-group-missing", "likely")
def build_for_intel_sees_none_for_such_an_account(
    who: Account, torch: Torch = one(xpu_available=False), other: Gpu | None = one(vendor="nvidia"), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """torch's build for Intel finds nothing, and the account is in no group that opens the nodes."""
    outside = bool(who.groups) and not {"render", "video"} & set(who.groups) and who.get("uid") != 0 and who.get("user") != "root"  # fmt: skip
    return outside and "+xpu" in str(torch.get("version")) and other is None and guest is None and not inside(who) and {"vendor": "intel"}  # fmt: skip


@rule("render-group-missing", "likely")
def opencl_lists_for_root_alone(
    said: Symptom = seen("opencl-finds-no-platform", *_NO_INTEL), _root: Symptom = seen("opencl-lists-for-root-alone"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """With root's rights the card is there, and without them it is not."""
    return other is None and not inside(said) and {"said": said.id}


@rule("container-without-gpu", "likely")
def none_is_found_where_no_node_is(
    said: Symptom = seen(*_NO_INTEL, "opencl-finds-no-platform"), gone: Symptom = seen("render-nodes-not-there", at="container")
) -> Verdict:  # fmt: skip
    """A container without the nodes by which Intel's cards are reached."""
    return {"vendor": "intel", "option": "--device=/dev/dri", "said": said.id, "gone": gone.id}


@rule("container-without-gpu", "possible")
def processors_alone_are_listed_in_a_container(said: Symptom = seen("sycl-lists-processors-alone", at="container")) -> Verdict:  # fmt: skip
    """oneAPI's own list has processors alone."""
    return {"vendor": "intel", "option": "--device=/dev/dri", "said": said.id}


@rule("bios-bar-settings", "likely")
def panel_shows_that_the_large_window_is_off(
    said: Symptom = seen("resizable-bar-is-off"), _card: Symptom = seen("intel-gpu-in-words")
) -> Verdict:
    """Intel's cards need it; those of others work without."""
    return {"said": said.id}


@rule("oom-model-too-large", "likely")
def one_program_fills_intels_card(said: Symptom = seen("xpu-memory-full")) -> Verdict:
    """torch's own figures: what it holds is most of the card."""
    total = size(said.get("total") or said.get("total2")) or 0
    held = size(said.get("allocated") or said.get("allocated2")) or 0
    return total > 0 and held + (size(said.wanted) or 0) >= _MOSTLY * total and {"said": said.id}
