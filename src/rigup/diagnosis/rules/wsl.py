"""Linux inside Windows: what it borrows from there, and what gets in its way."""

from rigup.diagnosis.rule import Every, Verdict, every, lacks, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.knowledge import wsl
from rigup.machine.kinds import (
    DeviceNode,
    Distribution,
    DriverLibrary,
    Gpu,
    LoaderEntry,
    Platform,
    Symptom,
    SystemPackage,
    Toolkit,
    Torch,
)

_WSL = (1, 2)


@rule("wsl-gpu-in-tcc-mode")
def a_card_computes_only(_platform: Platform = one(wsl=_WSL), card: Gpu = one(driver_model="TCC")) -> Verdict:
    """Windows keeps such a card to itself, and one is enough to stop them all."""
    return bool(card.get("vendor", "nvidia") == "nvidia")


@rule("wsl-gpu-in-tcc-mode", strength="likely")
def a_card_computes_only_where_wsl_is_spoken_of(
    spoken: Symptom = seen(tag="wsl-spoken-of"), card: Gpu = one(driver_model="TCC"), platform: Platform | None = one(wsl=_WSL)
) -> Verdict:  # fmt: skip
    """Windows's own list, and a person who wants the cards in WSL."""
    return platform is None and card.get("vendor", "nvidia") == "nvidia" and {"said": spoken.id}


@rule("wsl-gpu-in-tcc-mode", strength="likely")
def no_handle_inside(_platform: Platform = one(wsl=_WSL), error: Symptom = seen("nvidia-smi-no-handle", "wsl-access-blocked"),
                     drawing: Gpu | None = one(driver_model="WDDM"), computing: Gpu | None = one(driver_model="TCC")) -> Verdict:  # fmt: skip
    """What the driver's Windows side refuses; where Windows's own list shows no such card, it is something else."""
    listed = drawing is not None and computing is None
    refused = error.id == "wsl-access-blocked" or str(error.get("why")).startswith("Unknown Error")
    return refused and not listed


@rule("wsl-linux-driver-inside")
def driver_package_inside(
    _platform: Platform = one(wsl=_WSL), package: SystemPackage = one(state="installed")
) -> Verdict:
    """A package of a Linux driver, in the distribution itself."""
    return wsl.shadows(package.name) and not inside(package) and {"packages": package.name}


@rule("wsl-linux-driver-inside")
def another_libcuda_first(
    _platform: Platform = one(wsl=_WSL), entry: LoaderEntry = one(soname="libcuda.so.1")
) -> Verdict:
    """The loader takes one that is not Windows's."""
    return not entry.path.startswith(wsl.library_folder()) and not inside(entry) and {"path": entry.path}


@rule("wsl-linux-driver-inside", strength="likely")
def another_libcuda_lies_there(
    _platform: Platform = one(wsl=_WSL), library: DriverLibrary = one(soname=("libcuda.so.1", "libnvidia-ml.so.1"))
) -> Verdict:
    """A driver's library outside the folder that Windows shows."""
    foreign = not library.path.startswith(wsl.library_folder()) and not any(
        part in library.path for part in ("/compat", "/stubs", "/wsl/")
    )
    return foreign and not inside(library) and {"path": library.path}


@rule("wsl-linux-driver-inside", strength="likely")
def library_of_another_driver_than_windows_has(
    error: Symptom = seen("nvml-version-mismatch", "nvml-version-mismatch-constant", "ollama-nvml-versions"), platform: Platform | None = None,
    spoken: Symptom | None = seen(tag="wsl-spoken-of"), typed: Symptom | None = seen(tag="wsl-typed"),
) -> Verdict:  # fmt: skip
    """In WSL no module is loaded that could lag behind: a library that does not fit came with a Linux driver."""
    ours = platform.get("wsl") if platform else spoken and typed
    return bool(ours) and {"said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def driver_installed_by_hand(
    _platform: Platform = one(wsl=_WSL), typed: Symptom = seen("wsl-driver-utils-installed", "wsl-driver-package-installed"),
    error: Symptom = seen("wsl-access-blocked", "nvidia-smi-cannot-communicate"),
) -> Verdict:  # fmt: skip
    """Somebody installed a Linux driver, and what it brings cannot reach Windows's."""
    return {"typed": typed.id, "said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def driver_installed_by_hand_as_people_say(
    _spoken: Symptom = seen(tag="wsl-spoken-of"), typed: Symptom = seen(tag="wsl-typed"), platform: Platform | None = one(wsl=_WSL),
    error: Symptom = seen("wsl-access-blocked", "nvidia-smi-cannot-communicate", "gpu-missed-in-words", "gpu-missed-in-small-letters"),
) -> Verdict:  # fmt: skip
    """The same where only the person's words tell of WSL."""
    return platform is None and {"typed": typed.id, "said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def linux_tool_answers_in_a_wsl_that_is_new(
    platform: Platform = one(wsl=2), error: Symptom = seen("nvidia-smi-cannot-communicate"), card: Gpu | None = one(driver_model="TCC")
) -> Verdict:  # fmt: skip
    """Windows and its kernel are new enough, and what answers looks for a Linux driver: so it came with one."""
    version, kernel = platform.version, platform.release
    is_new = version.startswith("10.") and wsl.too_old(version, kernel) is None
    return is_new and card is None and {"said": error.id}


@rule("wsl-linux-driver-inside", strength="likely")
def driver_installed_by_hand_where_windows_blocks(
    typed: Symptom = seen("wsl-driver-utils-installed", "wsl-driver-package-installed"), error: Symptom = seen("wsl-access-blocked"),
    platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """The words of the refusal are a guest's of Windows; that it is one, the text need not say."""
    guest = platform is not None and platform.get("wsl") is not None
    return not guest and {"typed": typed.id, "said": error.id}


@rule("wsl-linux-driver-inside")
def container_tool_takes_linux_libraries(
    _platform: Platform = one(wsl=_WSL), taken: Symptom = seen("container-cli-takes-linux-library")
) -> Verdict:
    """NVIDIA's container tool found a Linux driver's libraries in the distribution."""
    return {"path": taken.get("path")}


@rule("wsl-libcuda-link")
def plain_name_wanted(
    _platform: Platform = one(wsl=_WSL), _error: Symptom = seen("libcuda-plain-name-missing", "libcuda-of-no-name")
) -> Verdict:
    """A program opens the name without a number."""
    return {"path": wsl.library_folder()}


@rule("wsl-libcuda-link", strength="likely")
def plain_name_wanted_where_wsl_is_spoken_of(
    spoken: Symptom = seen(tag="wsl-spoken-of"), _error: Symptom = seen("libcuda-plain-name-missing", "libcuda-of-no-name"), platform: Platform | None = one(wsl=_WSL)
) -> Verdict:  # fmt: skip
    """The same where only the person's words tell of WSL."""
    return platform is None and {"path": wsl.library_folder(), "said": spoken.id}


@rule("wsl-libcuda-link")
def plain_name_not_in_the_cache(missing: Every[LoaderEntry] = lacks(LoaderEntry, soname="libcuda.so"),
                                entry: LoaderEntry = one(soname="libcuda.so.1"), torch: Torch | None = one(available=True)) -> Verdict:  # fmt: skip
    """Most distributions in WSL are so, and most programs do not mind: it counts where somebody went looking for that name."""
    asked = missing.look.coverage != "whole"
    return asked and torch is None and entry.path.startswith(wsl.library_folder()) and {"path": wsl.library_folder()}


@rule("wsl-windows-too-old")
def windows_or_its_kernel_is_old(platform: Platform = one(wsl=_WSL)) -> Verdict:
    """GPUs came with a certain build of Windows and a certain kernel; the version is Windows's where it tells one."""
    version = platform.get("version")
    old = wsl.too_old(version if version and version.startswith("10.") else None, platform.get("release"))
    build, kernel = wsl.minimum()
    if old is None or wsl.may_be_old(version, platform.get("release")):
        return False
    return {"minimum": "Windows build " + build if old == "windows" else "kernel " + kernel}


@rule("wsl-windows-too-old", strength="likely")
def kernel_of_a_preview_and_no_gpu(
    platform: Platform = one(wsl=_WSL), symptom: Symptom = seen("nvidia-smi-cannot-communicate", "wsl-access-blocked", "wsl-no-adapter", "container-no-wsl-adapter")
) -> Verdict:  # fmt: skip
    """Such kernels had GPUs with some Windows and some driver; here none answers."""
    version, kernel = platform.get("version"), platform.get("release")
    old = wsl.may_be_old(version, kernel) and wsl.too_old(version, kernel) is not None
    return old and {"minimum": "kernel " + wsl.minimum()[1], "said": symptom.id}


@rule("wsl-windows-too-old")
def first_generation(platform: Platform = one(wsl=1)) -> Verdict:
    """WSL 1 has no kernel of its own, and no GPU."""
    return platform.wsl == 1 and {"distribution": "Ubuntu", "minimum": "WSL 2"}


@rule("wsl-windows-too-old", strength="likely")
def no_device_of_windows(
    _platform: Platform = one(wsl=2), nodes: Every[DeviceNode] = every(DeviceNode, at="host")
) -> Verdict:
    """Windows shows its GPUs as one device."""
    whole = nodes.look.coverage == "whole"
    return (
        whole
        and not any(node.path in ("/dev/dxg", "/dev/kfd") or node.path.startswith("/dev/nvidia") for node in nodes)
        and {"minimum": "/dev/dxg"}
    )


@rule("wsl-windows-too-old", strength="likely")
def windows_is_old_and_wsl_is_spoken_of(
    platform: Platform = one(system="windows"), _wsl: Symptom = seen(tag="wsl-spoken-of"),
    _error: Symptom = seen("nvidia-smi-cannot-communicate", "nvidia-smi-not-installed", "torch-found-no-driver", "rock-module-not-loaded"),
) -> Verdict:  # fmt: skip
    """Which WSL it is, nobody tells; under such a Windows none has a GPU."""
    return wsl.too_old(platform.version, None) is not None and {"minimum": "Windows build " + wsl.minimum()[0]}


@rule("wsl-windows-too-old", strength="likely")
def no_library_of_windows(
    _platform: Platform = one(wsl=_WSL), symptom: Symptom = seen("container-no-dxcore")
) -> Verdict:
    """NVIDIA's container tool looks for Windows's library in WSL; on any other Linux it says the same and means nothing."""
    return {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id}


@rule("wsl-windows-too-old", strength="likely")
def no_adapter_for_containers(
    symptom: Symptom = seen("container-no-wsl-adapter"), platform: Platform | None = None, gpu: Gpu | None = one(driver_model="TCC"),
    other: Gpu | None = one(vendor=("amd", "intel")), ours: Gpu | None = one(vendor="nvidia"), model: Symptom | None = seen("driver-model-tcc"),
    cardless: Symptom | None = seen("display-adapters-without-a-card", tag="no-dedicated no-such-card"),
) -> Verdict:  # fmt: skip
    """The tool knows that it is in WSL, and Windows shows it no GPU: its build, its WSL or its driver is from before that."""
    version = platform.get("version") if platform else None
    new = bool(version and version.startswith("10.")) and wsl.too_old(version, None) is None
    none = (other or cardless) is not None and ours is None  # the card is another maker's, or none is there
    return (
        gpu is None
        and model is None
        and not new
        and not none
        and {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id}
    )


@rule("wsl-gpu-not-supported", strength="likely")
def chip_before_the_first_generation(_platform: Platform = one(wsl=_WSL), card: Gpu = one(vendor="amd"),
                                     _error: Symptom = seen("hip-no-device", "torch-no-cuda-gpus", "rock-module-not-loaded", tag="wsl-no-runtime")) -> Verdict:  # fmt: skip
    """ROCm in WSL began with a later generation."""
    return wsl.chip_without_wsl(card.isa)


@rule("wsl-rocm-release-not-supported", strength="likely")
def release_not_made_for_wsl(rocm: Toolkit = one(name="rocm"), card: Gpu = one(vendor="amd"),
                             _wsl: Symptom = seen("wsl-detected"), _error: Symptom = seen(tag="wsl-no-runtime")) -> Verdict:  # fmt: skip
    """The runtime of this release looks for a kernel driver that WSL has not."""
    return wsl.rocm_supported(rocm.version) is False and not wsl.chip_without_wsl(card.get("isa") or "")


@rule("wsl-rocm-release-not-supported", strength="likely")
def distribution_not_made_for(place: Distribution, card: Gpu = one(vendor="amd"),
                              _wsl: Symptom = seen("wsl-detected"), _error: Symptom = seen(tag="wsl-no-runtime")) -> Verdict:  # fmt: skip
    """AMD makes its WSL packages for Ubuntu."""
    return place.id != "ubuntu" and not wsl.chip_without_wsl(card.get("isa") or "")


@rule("wsl-rocm-release-not-supported", strength="possible")
def runtime_finds_nothing(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _error: Symptom = seen(tag="wsl-no-runtime")
) -> Verdict:
    """The card is one that WSL may have, and the runtime does not get through to it."""
    return not wsl.chip_without_wsl(card.get("isa") or "")


@rule("wsl-rocm-release-not-supported", strength="likely")
def release_installed_in_wsl(_platform: Platform = one(wsl=2), rocm: Toolkit = one(name="rocm"),
                             torch: Torch | None = None, card: Gpu | None = one(vendor="amd")) -> Verdict:  # fmt: skip
    """Known not to have been made for WSL, unless its own runtime lists the card."""
    works = (torch and torch.get("available")) or (card and card.get("seen_by") == "rocminfo")
    return wsl.rocm_supported(rocm.version) is False and not works


@rule("wsl-rocm-release-not-supported", strength="likely")
def rocminfo_knows_no_wsl(
    _platform: Platform = one(wsl=_WSL), symptom: Symptom = seen("rock-module-not-loaded"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """It looks for Linux's module, so it is not of a release for WSL."""
    return other is None and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def rocminfo_knows_no_wsl_that_is_spoken_of(
    _wsl: Symptom = seen(tag="wsl-spoken-of"), symptom: Symptom = seen("rock-module-not-loaded"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The same where a person says it in words."""
    return other is None and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def rocminfo_beside_windows(
    _platform: Platform = one(system="windows"), symptom: Symptom = seen("rock-module-not-loaded"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """Only Linux's rocminfo says so: where the system around it is Windows, it ran in WSL."""
    return other is None and {"said": symptom.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def installed_for_plain_linux(
    typed: Symptom = seen("amdgpu-install-without-wsl"), platform: Platform | None = one(wsl=_WSL), spoken: Symptom | None = seen(tag="wsl-spoken-of"),
    torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The installer was not asked for what WSL needs."""
    return torch is None and bool(platform or spoken) and {"typed": typed.id}


@rule("wsl-rocm-release-not-supported", strength="likely")
def linux_module_is_missed_in_wsl(
    symptom: Symptom = seen("amdgpu-module-missed"), platform: Platform | None = one(wsl=_WSL), spoken: Symptom | None = seen(tag="wsl-spoken-of"),
    works: Symptom | None = seen("rocminfo-lists-one-chip"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """No WSL has that module: a ROCm that looks for it was not made for WSL."""
    listed = works is not None or (card is not None and (card.knows("shown_isa") or card.get("seen_by") == "rocminfo"))
    return not listed and bool(platform or spoken) and {"said": symptom.id}


@rule("wsl-windows-too-old", strength="possible")
def driver_does_not_answer_the_container_tool(
    symptom: Symptom = seen("container-cli-driver-error"), platform: Platform | None = one(wsl=_WSL), spoken: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:  # fmt: skip
    """Windows shows its driver by halves: its build, its WSL or its driver is from before GPUs came to WSL."""
    version, kernel = (platform.get("version"), platform.get("release")) if platform else (None, None)
    has_version = bool(version and version.startswith("10.")) or bool(kernel)
    new = has_version and wsl.too_old(version if version and version.startswith("10.") else None, kernel) is None
    return bool(platform or spoken) and not new and {"minimum": "Windows build " + wsl.minimum()[0], "said": symptom.id}


@rule("wsl-gpu-not-supported", strength="likely")
def chip_before_the_first_generation_beside_windows(
    _platform: Platform = one(system="windows"),
    card: Gpu = one(vendor="amd"),
    symptom: Symptom = seen("rock-module-not-loaded"),
) -> Verdict:
    """Only Linux's rocminfo says so: where the system around it is Windows, it ran in WSL."""
    return wsl.chip_without_wsl(card.isa) and {"said": symptom.id}


@rule("wsl-wheel-bundled-hsa-runtime")
def wheel_brings_its_own(_platform: Platform = one(wsl=2), torch: Torch = one(own_hsa=True)) -> Verdict:
    """The wheel's runtime is found before the one that was made for WSL."""
    return (
        bool(torch.hip)
        and not wsl.runtime_knows_wsl(torch.hip or "")
        and torch.get("available") is not True
        and {"path": _runtime(torch)}
    )


@rule("wsl-wheel-bundled-hsa-runtime")
def rocminfo_sees_what_torch_does_not(_platform: Platform = one(wsl=2), torch: Torch = one(available=False),
                                      listed: Symptom | None = seen("rocminfo-lists-one-chip"), card: Gpu | None = one(vendor="amd")) -> Verdict:  # fmt: skip
    """The system's runtime lists the card."""
    works = listed is not None or (card is not None and (card.knows("shown_isa") or card.get("seen_by") == "rocminfo"))
    return works and bool(torch.hip) and not wsl.runtime_knows_wsl(torch.hip or "")


@rule("wsl-wheel-bundled-hsa-runtime", strength="likely")
def rocminfo_sees_what_hip_does_not(
    _platform: Platform = one(wsl=2), card: Gpu = one(vendor="amd"),
    symptom: Symptom = seen("hip-log-no-device", "hip-no-device", "torch-no-cuda-gpus"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """The system's runtime lists the card, HIP in the program finds none; which torch it is, nobody tells."""
    listed = card.knows("shown_isa") or card.get("seen_by") == "rocminfo"
    has_hip = torch is not None and torch.knows("hip")
    plain = has_hip and torch is not None and (not torch.hip or wsl.runtime_knows_wsl(torch.hip))
    return listed and not plain and not (torch and torch.get("available")) and {"said": symptom.id}


def _runtime(torch: Torch) -> str:
    reading = torch.fields.get("own_hsa")
    text = reading.where.text if reading else ""
    path = text[text.find("/") :].split(" ")[0] if "/" in text else ""
    return path.partition(".so")[0] + ".so" if path else "torch/lib/libhsa-runtime64.so"
