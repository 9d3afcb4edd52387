"""This Windows, or its WSL, is too old for GPUs."""

import re

from rigup.diagnosis.causes.places import WSL
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge import wsl
from rigup.machine.kinds import DeviceNode, Distribution, Gpu, Platform, Symptom, SystemPackage


@rule("wsl-windows-too-old")
def windows_or_its_kernel_is_old(platform: Platform = one(wsl=WSL)) -> Verdict:
    """GPUs came with a certain build of Windows and a certain kernel; the version is Windows's where it tells one."""
    version = platform.get("version")
    old = wsl.too_old(version if version and version.startswith("10.") else None, platform.get("release"))
    build, kernel = wsl.minimum()
    if old is None or platform.wsl == 1 or wsl.may_be_old(version, platform.get("release")):
        return False
    return {"minimum": "Windows build " + build if old == "windows" else "kernel " + kernel}


@rule("wsl-windows-too-old", strength="likely")
def kernel_of_a_preview_and_no_gpu(
    platform: Platform = one(wsl=WSL),
    symptom: Symptom = seen("nvidia-smi-cannot-communicate", "wsl-access-blocked", "wsl-no-adapter", "container-no-wsl-adapter"),
) -> Verdict:
    """Such kernels had GPUs with some Windows and some driver; here none answers."""
    version, kernel = platform.get("version"), platform.get("release")
    old = wsl.may_be_old(version, kernel) and wsl.too_old(version, kernel) is not None
    return old and {"minimum": "kernel " + wsl.minimum()[1], "said": symptom.id}


@rule("wsl-windows-too-old")
def first_generation(platform: Platform = one(wsl=1)) -> Verdict:
    """WSL 1 has no kernel of its own, and no GPU."""
    return platform.wsl == 1 and {"distribution": "Ubuntu", "first": "WSL 1", "minimum": "WSL 2"}


@rule("wsl-windows-too-old", strength="likely")
def no_device_of_windows(_platform: Platform = one(wsl=2), nodes: Every[DeviceNode] = every(DeviceNode, at="host")) -> Verdict:
    """Windows shows its GPUs as one device."""
    whole = nodes.look.coverage == "whole"
    return (
        whole
        and not any(node.path in ("/dev/dxg", "/dev/kfd") or node.path.startswith("/dev/nvidia") for node in nodes)
        and {"minimum": "/dev/dxg"}
    )


@rule("wsl-windows-too-old", strength="likely")
def windows_is_old_and_wsl_is_spoken_of(
    platform: Platform = one(system="windows"),
    _wsl: Symptom = seen(tag="wsl-spoken-of"),
    _error: Symptom = seen("nvidia-smi-cannot-communicate", "nvidia-smi-not-installed", "torch-found-no-driver", "rock-module-not-loaded"),
) -> Verdict:
    """Which WSL it is, nobody tells; under such a Windows none has a GPU."""
    return wsl.too_old(platform.version, None) is not None and {"minimum": "Windows build " + wsl.minimum()[0]}


@rule("wsl-windows-too-old", strength="likely")
def no_library_of_windows(_platform: Platform = one(wsl=WSL), symptom: Symptom = seen("container-no-dxcore")) -> Verdict:
    """NVIDIA's container tool looks for Windows's library in WSL; on any other Linux it says the same and means nothing."""
    return {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id}


@rule("wsl-windows-too-old", strength="likely")
def no_adapter_for_containers(
    symptom: Symptom = seen("container-no-wsl-adapter"),
    platform: Platform | None = None,
    gpu: Gpu | None = one(driver_model="TCC"),
    other: Gpu | None = one(vendor=("amd", "intel")),
    ours: Gpu | None = one(vendor="nvidia"),
    model: Symptom | None = seen("driver-model-tcc"),
    cardless: Symptom | None = seen("display-adapters-without-a-card", tag="no-dedicated no-such-card"),
) -> Verdict:
    """The tool knows that it is in WSL, and Windows shows it no GPU: its build, its WSL or its driver is from before that."""
    version = platform.get("version") if platform else None
    new = bool(version and version.startswith("10.")) and wsl.too_old(version, None) is None
    none = (other or cardless) is not None and ours is None  # the card is another maker's, or none is there
    return gpu is None and model is None and not new and not none and {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id}


@rule("wsl-windows-too-old", strength="possible")
def driver_does_not_answer_the_container_tool(
    symptom: Symptom = seen("container-cli-driver-error"),
    platform: Platform | None = one(wsl=WSL),
    spoken: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:
    """Windows shows its driver by halves: its build, its WSL or its driver is from before GPUs came to WSL."""
    version, kernel = (platform.get("version"), platform.get("release")) if platform else (None, None)
    has_version = bool(version and version.startswith("10.")) or bool(kernel)
    new = has_version and wsl.too_old(version if version and version.startswith("10.") else None, kernel) is None
    return bool(platform or spoken) and not new and {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id}


@text_rule("wsl-windows-too-old", "possible")
def engine_in_a_wsl_reaches_no_driver(
    symptom: Symptom = seen("container-cli-driver-error"),
    platform: Platform = one(wsl=2),
    card: Gpu | None = one(vendor="nvidia"),
    package: SystemPackage | None = one(state="installed"),
) -> Verdict:
    """NVIDIA's container tool gets no answer in a WSL; where no Linux driver is shown, Windows or its kernel is mostly from before containers."""
    ours = package is not None and wsl.shadows(package.name)
    return card is None and not ours and platform.wsl == 2 and {"said": symptom.id, "minimum": "Windows build " + wsl.minimum()[0]}


@text_rule("wsl-windows-too-old", "likely")
def windows_is_old_and_a_linux_shell_finds_no_driver(
    platform: Platform = one(system="windows"),
    shell: Symptom = seen("prompt-of-a-linux-shell"),
    symptom: Symptom = seen(tag="nvidia-driver-silent nvidia-finds-none"),
    far: Symptom | None = seen("ssh-typed"),
) -> Verdict:
    """Windows tells its version, and below it stands the prompt of a Linux: its own, where nobody went to another machine."""
    old = wsl.too_old(platform.version, None) is not None
    return old and far is None and {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id, "where": shell.id}


@text_rule("wsl-windows-too-old", "likely")
def kernel_that_windows_tells_is_old(statement: Symptom = seen("wsl-kernel-told-by-windows")) -> Verdict:
    """`wsl --status` names the kernel that Windows starts."""
    return wsl.too_old(None, str(statement.release)) is not None and {"minimum": "Windows build " + wsl.minimum()[0], "said": statement.id}


@mends("wsl-windows-too-old")
def which_side_is_old(knew: Params, windows: Platform | None = None, listed: Distribution | None = None) -> Params:
    """Windows first where its build is below what GPUs need, WSL alone where its kernel is."""
    if knew.get("distribution"):
        name = str((listed and listed.get("name")) or "")
        is_of_wsl = re.fullmatch(r"[A-Za-z0-9][\w.-]{0,60}", name) is not None  # as `wsl -l -v` lists it: one word
        return {"distribution": name} if is_of_wsl else {}
    build, _kernel = wsl.minimum()
    minimum = str(knew.get("minimum") or "")
    version, release = (windows.get("version"), windows.get("release")) if windows is not None else (None, None)
    version = version if version and version.startswith("10.") else None
    old = wsl.too_old(version, None if version else release)
    if old == "kernel" or minimum.startswith("kernel"):
        return {"kernel": "old"}
    return {"build": build} if old == "windows" or build in minimum else {}
