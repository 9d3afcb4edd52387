"""Causes of libraries, drivers and a card's memory by what public threads show of them: two versions side by side, and limits by number."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, same_version
from rigup.knowledge.cuda import version_key
from rigup.knowledge.framework_cuda import cuda_of_package, named_alike
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.machine.kinds import (
    Driver,
    DriverLibrary,
    Gpu,
    KernelModule,
    Platform,
    SearchPath,
    Symptom,
    TensorFlow,
    Toolkit,
    Torch,
)

_GIB = 1 << 30
_APART = 10  # branches: in a WSL nvidia-smi is of a neighbouring one, and no fault
_RIG = 3  # cards that make a machine one for mining
_MINER = ("miner-was-refused-memory", "miner-built-no-data-set")
_WSL = ("wsl-lived-in", "wsl-in-small-letters", "wsl-kernel-named", "wsl-folder-named")


# -- the toolkit's stubs
@rule("libcuda-stub-loaded", "likely")
def stubs_are_searched_and_torch_sees_none(folder: SearchPath, _torch: Torch = one(available=False)) -> Verdict:
    """A folder of stubs stands in the search path, and torch finds no card."""
    return folder.path.endswith("/stubs") and {"folder": folder.path}


@rule("libcuda-stub-loaded", "possible")
def stubs_are_searched_first(
    said: Symptom = seen("stubs-stand-first-in-the-path"), works: Torch | None = one(available=True), loaded: Gpu | None = one(seen_by="torch"),
) -> Verdict:  # fmt: skip
    """A folder that only a linker wants is the first to be searched when programs start; nobody says what came of it."""
    return works is None and loaded is None and {"folder": said.folder}


# -- kernel and user space of different versions
@rule("libcuda-differs-from-kernel-driver", "likely")
def inside_lies_a_libcuda_of_another_driver(
    driver: Driver = one(vendor="nvidia"), libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
    said: Symptom = seen(*NO_CUDA, "torch-cuda-init-failed", "cuda-init-failed-no-gpu", "cuda-999", "cuda-not-initialized"),
    guest: Symptom | None = seen(*_WSL),
) -> Verdict:  # fmt: skip
    """nvidia-smi tells the driver, a listing the libraries: none is of that release, and CUDA does not start."""
    foreign = [one for one in libraries if one.knows("version") and not same_version(driver.version, one.version)]
    return guest is None and 0 < len(foreign) == len(libraries) and {"path": foreign[0].path, "said": said.id}


@rule("libcuda-differs-from-kernel-driver", "likely")
def tensorflow_tells_two_versions(
    library: Symptom = seen("tf-tells-libcuda"), kernel: Symptom = seen("tf-tells-the-kernel")
) -> Verdict:
    """TensorFlow asks libcuda and the kernel: they answer with different releases."""
    return not same_version(_plain(library.version), _plain(kernel.version)) and {"library": library.version}


@rule("libcuda-differs-from-kernel-driver", "likely")
def tensorflows_library_is_not_the_modules(
    library: Symptom = seen("tf-tells-libcuda"), module: KernelModule = one(name="nvidia"), kernel: Symptom | None = seen("tf-tells-the-kernel"),
) -> Verdict:  # fmt: skip
    """The same, where the log is cut after the kernel's own file."""
    return kernel is None and not same_version(_plain(library.version), _plain(module.version))


def _plain(version: str) -> str:
    """TensorFlow writes 470.57.02 as 470.57.2, and 384.130 as 384.130.0."""
    parts = version.rstrip(".").split(".")
    return ".".join(parts[:-1] if parts[-1] == "0" and len(parts) > 2 else parts)


@rule("nvml-driver-library-mismatch", "likely")
def tool_is_of_a_far_release(
    head: Symptom = seen("nvidia-smi-of-another-driver"), platform: Platform | None = None, spoken: Symptom | None = seen(*_WSL),
) -> Verdict:  # fmt: skip
    """nvidia-smi is of a release many branches away from the one that answers it: two drivers' files are mixed."""
    guest = spoken is not None or (
        platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    )
    tool, driver = version_key(head.tool)[:1], version_key(head.driver)[:1]
    return not guest and bool(tool and driver) and abs(tool[0] - driver[0]) > _APART


# -- a driver that a program asks for
@rule("driver-too-old-for-wheel", "likely")
def program_asks_for_a_later_driver(
    said: Symptom = seen("program-wants-a-driver"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """The program names the first driver that it works with, and an earlier one is there."""
    return version_key(driver.version) < version_key(said.wanted) and {"needs": said.wanted, "have": driver.version}


@rule("driver-too-old-for-wheel", "possible")
def program_is_refused_for_its_driver(
    said: Symptom = seen("installation-failed-for-its-wants"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:
    """It failed, and names the first driver that it works with; which one is there nobody tells."""
    return driver is None and {"said": said.id}


# -- one process a card
@rule("compute-mode-exclusive", "likely")
def kaldi_waits_for_a_card_of_one_process(
    _waits: Symptom = seen("kaldi-waits-for-a-card"), _gpu: Gpu = one(compute_mode=("Exclusive_Process", "Exclusive_Thread"))
) -> Verdict:  # fmt: skip
    """Kaldi waits until another process leaves a card that serves one."""
    return True


@rule("compute-mode-exclusive", "possible")
def kaldi_waits_for_a_card(
    _waits: Symptom = seen("kaldi-waits-for-a-card"), shown: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """Kaldi waits for a card to become free, which it does where cards serve one process; nobody shows the mode."""
    return shown is None or not shown.get("compute_mode")


# -- memory
@rule("windows-paging-file-too-small", "likely")
def miner_fills_what_windows_may_promise(
    said: Symptom = seen(*_MINER), _platform: Platform = one(system="windows"),
    counted: Symptom | None = seen("miner-counts-its-cards"), told: Symptom | None = seen("little-main-memory-told"),
) -> Verdict:  # fmt: skip
    """Windows backs each card's memory by its own: a rig of many cards wants more than its memory and paging file."""
    return (told is not None or (counted is not None and int(counted.count) >= _RIG)) and {"said": said.id}


@rule("windows-paging-file-too-small", "likely")
def miner_of_many_cards_fills_what_windows_may_promise(
    said: Symptom = seen(*_MINER), _platform: Platform = one(system="windows"), cards: Every[Gpu] = every(Gpu)
) -> Verdict:
    """The same, where a listing shows the cards."""
    return len(cards) >= _RIG and {"said": said.id}


@rule("windows-paging-file-too-small", "possible")
def miner_gets_no_memory_on_windows(
    said: Symptom = seen("miner-built-no-data-set"), _platform: Platform = one(system="windows")
) -> Verdict:
    """The card is large enough for it to begin; what Windows may promise mostly is not."""
    return {"said": said.id}


@rule("oom-model-too-large", "possible")
def miner_was_refused_memory(
    said: Symptom = seen(*_MINER), windows: Platform | None = one(system="windows")
) -> Verdict:
    """The data of most coins grow until a card's memory does not hold them."""
    return (windows is None or said.id == "miner-was-refused-memory") and {"said": said.id}


@rule("windows-paging-file-too-small", "likely")
def program_is_refused_a_little(
    said: Symptom = seen("rust-was-refused-memory", "llama-was-refused-main-memory"), _platform: Platform = one(system="windows")
) -> Verdict:  # fmt: skip
    """On Windows even a little is refused once all that memory and paging file may hold is promised."""
    return int(said.bytes) < _GIB and {"said": said.id}


@rule("host-memory-exhausted", "likely")
def llama_wants_more_than_main_memory(
    said: Symptom = seen("llama-was-refused-main-memory"), windows: Platform | None = one(system="windows")
) -> Verdict:
    """What the processor is to hold, mostly a long context's cache, is more than the system gives."""
    return (windows is None or int(said.bytes) >= _GIB) and {"said": said.id}


# -- TensorFlow and the toolkit of the system
@rule("cuda-runtime-library-missing", "possible")
def tensorflow_was_made_for_another_toolkit(
    answered: TensorFlow = one(gpus=0), toolkit: Toolkit = one(name="cuda"), _card: Gpu = one(vendor="nvidia"), platform: Platform | None = None,
    skips: Symptom | None = seen("tf-library-not-loaded", "tf-library-not-dlopened", "cudnn-not-located", "tf-no-cuda-libraries"),
) -> Verdict:  # fmt: skip
    """It lists no GPU; it was made for a toolkit whose libraries have other names than those of the one that is told."""
    release = str(answered.get("version") or "")
    wanted = cuda_of_package("tensorflow-gpu", release) or cuda_of_package("tensorflow", release)
    windows = platform is not None and platform.get("system") == "windows"
    idle = windows and tensorflow_on_windows(release) is False
    apart = wanted is not None and not named_alike(wanted, str(toolkit.version))
    return not idle and skips is None and apart and {"program": "tensorflow", "lib": f"CUDA {wanted}"}
