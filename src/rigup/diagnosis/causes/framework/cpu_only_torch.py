"""This torch is built for the CPU alone."""

from rigup.diagnosis.causes.framework.own_environments import web_ui_has_its_own_way
from rigup.diagnosis.causes.framework.torch_builds import (
    a_build_that_serves_the_card,
    environment_that_has_one_for_cards,
    what_conda_is_asked,
    worth_a_build,
)
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Passes, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.framework_cuda import jax_extra
from rigup.knowledge.torch_builds import variant_for_pypi
from rigup.machine.kinds import (
    Driver,
    Gpu,
    Jetson,
    JobRequest,
    Package,
    PackageSource,
    PciDevice,
    Platform,
    Symptom,
    Toolkit,
    Torch,
    UnlistedVendor,
    World,
)

_GPU_MAKERS = ("nvidia", "amd")
_OTHER_WAYS = ("intel-extension-for-pytorch", "openvino", "ipex-llm", "torch-directml")
_COMPANIONS = ("torchvision", "torchaudio")
_FRAMEWORKS = {
    "paddle-for-the-processor": ("PaddlePaddle", "paddlepaddle-gpu"),
    "paddle-of-the-processors-version": ("PaddlePaddle", "paddlepaddle-gpu"),
    "onnxruntime-offers-no-cuda": ("onnxruntime", "onnxruntime-gpu"),
    "onnxruntime-cpu-alone": ("onnxruntime", "onnxruntime-gpu"),
    "ctranslate2-for-the-processor": ("CTranslate2", "ctranslate2"),
    "mxnet-for-the-processor": ("MXNet", "mxnet-cu112"),
    "mxnet-storage-for-the-processor": ("MXNet", "mxnet-cu112"),
}


def _for_cpu(torch: Torch) -> bool:
    return torch.cuda is None and torch.get("hip") is None and "+xpu" not in str(torch.get("version"))


_IN_WORDS = ("has-no-gpu-in-words", "has-no-card-in-words", "stands-without-a-card-in-words")
_NO_CARD = ("report-without-a-gpu", "lightning-mps-unavailable", *_IN_WORDS)


@rule("cpu-only-torch")
def its_own_report_has_no_toolkit(
    torch: Torch = one(available=False),
    gpu: Gpu = one(vendor=_GPU_MAKERS),
    directml: Symptom | None = seen("directml-used", "directml-asked-for", tag="directml-used"),
) -> Verdict:
    """torch ran, found no GPU, and was built without any toolkit, beside a card that it could use; DirectML's device goes with such a build."""
    return directml is None and _for_cpu(torch) and worth_a_build(gpu)


def _for_the_screen(gpu: Gpu) -> bool:
    """Graphics that came with a processor is mostly there for the screen."""
    return gpu.vendor == "amd" and gpu.get("integrated") is not False


@rule("cpu-only-torch")
def its_files_have_no_toolkit(
    torch: Torch,
    gpu: Gpu = one(vendor=_GPU_MAKERS),
    cuda: Torch | None = one(cuda=Passes(bool)),
    hip: Torch | None = one(hip=Passes(bool)),
    plugin: Package | None = one(name="torch-directml"),
    asked: Symptom | None = seen("directml-used", "directml-asked-for", "directml-chosen", tag="directml-used"),
) -> Verdict:
    """The files of an environment tell of no toolkit. Where another environment has one it matters less; DirectML needs none."""
    if torch.knows("available") or not _for_cpu(torch) or _for_the_screen(gpu) or not worth_a_build(gpu):
        return False
    if asked or (plugin and plugin.get("env") == torch.get("env")):
        return False
    return {"severity": "warning"} if cuda or hip else True


@rule("cpu-only-torch", "possible")
def somebody_asked_it_and_shows_nothing_else(
    torch: Torch = one(available=False),
    gpu: Gpu | None = None,
    platform: Platform | None = None,
    none: Symptom | None = seen(*_NO_CARD, tag="macs other-accelerators"),
    screen: PciDevice | None = one(class_code="0300"),
    other: Torch | None = one(available=True),
    cell: Symptom | None = seen("notebook-cell-without-nvidia-smi"),
    lent: Symptom | None = seen(tag="hosted-notebook hosted-notebook-alike"),
    world: World | None = None,
) -> Verdict:
    """A session in which torch says no, and whose version says why; no card, no list of lspci, no other torch and no lent notebook is shown."""
    hosted = cell is not None and lent is not None and world is None
    return not hosted and gpu is None and platform is None and none is None and screen is None and other is None and _for_cpu(torch)


@rule("cpu-only-torch", "likely")
def a_program_wanted_cuda_of_it(
    torch: Torch = one(available=False), _wanted: Symptom = seen("yolo-invalid-cuda"), gpu: Gpu | None = None
) -> Verdict:
    """Somebody asked a program for a CUDA device, and its torch is a build for the CPU."""
    return torch.knows("version") and _for_cpu(torch) and (gpu is None or worth_a_build(gpu))


@rule("cpu-only-torch", "likely")
def a_toolkit_was_installed_for_it(
    torch: Torch = one(available=False),
    _toolkit: Toolkit = one(name="cuda"),
    gpu: Gpu | None = None,
    none: Symptom | None = seen("report-without-a-gpu"),
) -> Verdict:
    """A report that ends before it comes to the cards: a build for the CPU beside a CUDA toolkit."""
    return gpu is None and none is None and torch.knows("version") and _for_cpu(torch)


@rule("cpu-only-torch", "likely")
def a_program_found_no_gpu_code(
    _said: Symptom = seen(
        "torch-not-compiled-with-cuda", "torch-not-compiled-in-other-letters", "torch-not-linked-with-cuda", tag="torch-without-cuda"
    ),
    platform: Platform | None = None,
    torch: Torch | None = None,
    mac: Symptom | None = seen(tag="macs"),
    card: Gpu | None = one(vendor="nvidia"),
    works: Torch | None = one(available=True),
    other: Symptom | None = seen(tag="other-accelerators"),
) -> Verdict:
    """torch says so itself; where one computes, or another accelerator does, somebody else spoke. On a Mac there is no such build, and a build for Intel has another device."""
    if (platform and platform.get("system") == "macos") or (mac and platform is None and card is None):
        return False
    return (
        works is None
        and other is None
        and not (
            torch and (torch.get("cuda") or torch.get("mps_built") or torch.get("xpu_available") or "+xpu" in str(torch.get("version")))
        )
    )


def _cpu_variant(package: Package) -> bool:
    """`py3.8_cpu_0`, `cpu_generic_py311`, and the package whose name says it."""
    return package.name in ("cpuonly", "pytorch-cpu") or "cpu" in str(package.get("build") or "")


@rule("cpu-only-torch")
def conda_chose_the_cpu_build(
    package: Package = one(manager="conda", name=("cpuonly", "pytorch", "pytorch-cpu", "pytorch-mutex", "libtorch")),
    gpu: Gpu = one(vendor=_GPU_MAKERS),
    torch: Torch | None = None,
    other: Torch | None = one(cuda=Passes(bool)),
) -> Verdict:
    """conda names the variant in the build string; here it is known that a card is there. Of several environments it is one."""
    works = torch and (torch.get("available") or torch.get("cuda"))
    if not _cpu_variant(package) or not worth_a_build(gpu) or works:
        return False
    return {"severity": "warning"} if other else True


@rule("cpu-only-torch", "likely")
def pypis_wheel_for_windows(
    package: Package = one(manager="pip", name="torch"),
    platform: Platform = one(system="windows"),
    gpu: Gpu = one(vendor="nvidia"),
    torch: Torch | None = None,
) -> Verdict:
    """Without a local version it is PyPI's, and what PyPI has for Windows the table knows."""
    if "+" in package.version or platform.get("wsl") or (torch and (torch.get("available") or torch.get("cuda") or torch.get("hip"))):
        return False
    return variant_for_pypi(package.version, "windows") == "cpu" and worth_a_build(gpu)


@rule("cpu-only-torch", "likely")
def somebody_shows_a_list_of_cpu_builds(
    package: Package = one(manager="conda", name=("cpuonly", "pytorch", "pytorch-cpu", "pytorch-mutex", "libtorch")),
    platform: Platform | None = None,
    gpu: Gpu | None = None,
    torch: Torch | None = None,
    none: Symptom | None = seen("virtual-display-in-windows", tag="display-list-without-nvidia"),
    unlisted: UnlistedVendor | None = one(vendor="nvidia"),
) -> Verdict:
    """A list of packages is all that there is to see: who shows it looks for the GPU in it, unless what the bus has is shown too."""
    seen_none = none is not None or unlisted is not None
    known = platform is not None or gpu is not None or (torch is not None and torch.knows("available"))
    return _cpu_variant(package) and not known and not seen_none


@rule("cpu-only-torch", "likely")
def toolkit_lies_beside_a_cpu_build(
    package: Package = one(manager="conda", name=("pytorch", "pytorch-mutex", "libtorch")),
    toolkit: Package = one(manager="conda", name=("cudatoolkit", "pytorch-cuda")),
    torch: Torch | None = None,
    mac: Platform | None = one(system="macos"),
) -> Verdict:
    """Both were asked for together, and the solver gave the build that has no use for the toolkit."""
    works = torch is not None and (torch.get("available") or torch.get("cuda"))
    return _cpu_variant(package) and package.get("env") == toolkit.get("env") and mac is None and not works


@rule("cpu-only-torch", "possible")
def nothing_but_conda_forge_was_asked(
    _asked: Symptom = seen("conda-forge-alone"), torch: Torch = one(available=False), gpu: Gpu | None = None
) -> Verdict:
    """Solved on a channel that gives CPU builds where it sees no driver; the version line alone would settle it."""
    return not torch.get("cuda") and not torch.get("hip") and (gpu is None or worth_a_build(gpu))


def _foreign(torch: Torch | None) -> dict[str, str]:
    """The version of a build that has code for another maker's GPUs: such a one is not for the CPU alone."""
    version = str(torch.get("version")) if torch else ""
    return {"foreign": version} if version.partition("+")[2].startswith(("cu", "rocm")) else {}


@rule("cpu-only-torch", "likely")
def a_program_found_no_code_for_intel(
    symptom: Symptom = seen("torch-not-linked-with-xpu", "torch-not-compiled-with-xpu"), torch: Torch | None = None
) -> Verdict:
    """torch says so itself; a build for Intel's GPUs has them, with or without Intel's extension."""
    return not (torch and (torch.get("xpu_available") or "+xpu" in str(torch.get("version")))) and {"said": symptom.id, **_foreign(torch)}


@rule("cpu-only-torch", "likely")
def files_without_code_for_a_card_of_intels(
    torch: Torch,
    card: Gpu = one(vendor="intel", integrated=False),
    other: Gpu | None = one(vendor=("nvidia", "amd")),
    ipex: Package | None = one(name=_OTHER_WAYS),
    works: Torch | None = one(xpu_available=True),
) -> Verdict:
    """The version names the processor alone, beside a card that PyTorch has builds for; other ways to the card are not there."""
    plain = str(torch.get("version")).partition("+")[2].startswith("cpu") and not torch.knows("xpu_available")
    return plain and bool(card.get("name")) and other is None and ipex is None and works is None and {"have": torch.version}


@rule("cpu-only-torch", "likely")
def build_of_another_maker_beside_a_card_of_intels(
    torch: Torch = one(xpu_available=False),
    card: Gpu | None = one(vendor="intel", integrated=False),
    named: Symptom | None = seen("intel-gpu-in-words"),
    other: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:
    """Somebody asked torch for Intel's GPU, and its version names another backend or none."""
    local = str(torch.get("version")).partition("+")[2]
    foreign = local.startswith(("cpu", "cu", "rocm"))
    return foreign and other is None and bool(card or named) and {"have": torch.get("version"), **_foreign(torch)}


@rule("cpu-only-torch", "possible")
def no_such_device_in_torch(
    symptom: Symptom = seen("xpu-attribute-missing"), torch: Torch | None = None, ipex: Symptom | None = seen("ipex-imported")
) -> Verdict:
    """Releases before torch knew Intel's GPUs, or a build without them; Intel's extension, once imported, adds the name."""
    return ipex is None and not (torch and "+xpu" in str(torch.get("version"))) and {"said": symptom.id}


@rule("cpu-only-torch", "possible")
def pip_brought_the_plain_wheel(
    torch: Torch = one(available=False),
    _platform: Platform = one(system="windows"),
    gpu: Gpu = one(vendor="nvidia"),
    why: Symptom | None = seen("torch-driver-too-old", "torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device"),
) -> Verdict:
    """torch sees no GPU where there is one, and says no more; what pip brings by itself on Windows is a build for the processor."""
    return why is None and bool(gpu.fields) and not (torch.get("cuda") or torch.get("hip") or "+" in str(torch.get("version")))


@rule("cpu-only-torch", "possible")
def plain_version_and_a_card_that_is_not_used(
    torch: Torch,
    gpu: Gpu = one(vendor="nvidia"),
    statement: Symptom = seen("gpu-missed-in-words", "gpu-missed-in-small-letters", tag="gpu-not-used"),
    platform: Platform | None = one(system=("linux", "macos")),
) -> Verdict:
    """A version without the name of a toolkit, a card, and somebody who misses it."""
    plain = "+" not in str(torch.get("version") or "+") and not torch.knows("cuda") and not torch.get("hip")
    return platform is None and plain and not torch.get("available") and bool(gpu.fields) and {"told": statement.id}


@text_rule("cpu-only-torch", "likely")
def plain_torch_took_the_place_of_one_with_cuda(
    torch: Package = one(name="torch"),
    companion: Package = one(name=_COMPANIONS),
    _windows: Platform = one(system="windows"),
    symptom: Symptom = seen("voice-program-finds-no-card", tag="nvidia-finds-none"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """For Windows only an index names its CUDA in the version: the companions still do, and torch came again without."""
    replaced = "+" not in str(torch.version) and "+cu" in str(companion.version)
    return works is None and replaced and {"torch": torch, "said": symptom.id}


def _for_cuda(name: str) -> bool:
    return name.startswith("jax-cuda")


@text_rule("cpu-only-torch", "likely")
def jax_sees_a_card_and_has_no_part_for_it(
    symptom: Symptom = seen("jax-sees-a-card-it-is-not-for"),
    failed: Symptom | None = seen(tag="jax-fails-on-cuda"),
    plugin: Package | None = one(name=Passes(_for_cuda)),
    lib: Package | None = one(name="jaxlib"),
    torch: Torch | None = one(available=True),
    job: JobRequest | None = None,
    driver: Driver | None = one(vendor="nvidia"),
    asked: Symptom | None = seen("jax-told-to-use-the-processor"),
) -> Verdict:
    """It looks for the card's node itself; where its own part for CUDA is there, that part has failed, and where torch has the card, nobody asked jax for it, nor where jax is told to compute on the processor."""
    built = "+cuda" in str((lib.get("version") if lib else None) or "")
    alone = failed is None and plugin is None and torch is None and job is None and asked is None and not built
    packages = jax_extra(str(driver.get("version") or "") if driver else "")
    return alone and not inside(symptom) and {"said": symptom.id, "framework": "JAX", "packages": packages}


@text_rule("cpu-only-torch", "likely")
def framework_for_the_processor_beside_a_card(
    symptom: Symptom = seen(*_FRAMEWORKS),
    _card: Gpu = one(vendor="nvidia"),
    jetson: Jetson | None = None,
    module: Symptom | None = seen(tag="jetson-named"),
    right: Package | None = one(name=("onnxruntime-gpu", "paddlepaddle-gpu")),
    fails: Symptom | None = seen("onnxruntime-lists-a-provider-of-cards", tag="onnxruntime-provider-fails"),
) -> Verdict:
    """What it was built for is the processor; on a machine without a card that is as it should be."""
    name, packages = _FRAMEWORKS[symptom.id]
    fits = all(part is None for part in (jetson, module, right, fails))
    return fits and {"said": symptom.id, "framework": name, "packages": packages}


@text_rule("cpu-only-torch", "likely")
def build_for_the_processor_has_no_nccl(
    _said: Symptom = seen("torch-was-built-without-nccl"), torch: Torch = one(cuda=None, hip=None)
) -> Verdict:
    """The build's own version tells that it is for the processor, and a group of GPUs is wanted of it."""
    return torch.knows("cuda") and not (torch.get("platform") or "").startswith("macos")


@text_rule("cpu-only-torch", "likely")
def build_for_a_gpu_goes_and_the_processors_comes(
    gone: Symptom = seen(tag="torch-replaced"),
    new: Package = one(manager="pip", name="torch"),
    platform: Platform | None = None,
    asked: Symptom | None = seen("pip-single-index", "index-url-of-torch"),
) -> Verdict:
    """Who had a build for a GPU means to use one; on Windows PyPI's is for the processor."""
    release, _, local = str(new.version).partition("+")
    windows = platform is not None and platform.get("system") == "windows" and not platform.get("wsl")
    plain = not local and windows and variant_for_pypi(release, "windows") == "cpu"
    wanted = asked is not None and "/whl/cpu" in str(asked.index)
    return (local == "cpu" or plain) and not wanted and {"have": gone.old, "other": new.version}


def _built_for_cuda(package: Package) -> bool:
    return "cuda" in str(package.get("build") or "") or "+cu" in str(package.get("version"))


@text_rule("cpu-only-torch", "likely")
def conda_may_take_none_but_the_processors(
    choice: Package = one(manager="conda", name="_pytorch_select"),
    others: Every[Package] = every(Package),
    torch: Torch | None = None,
    mac: Symptom | None = seen(tag="macs"),
    asked: Platform | None = one(system="macos"),
) -> Verdict:
    """conda's own channel chooses by this package which torch its solver takes."""
    cpu = str(choice.get("build")).startswith("cpu")
    cuda = any(other.name in ("pytorch", "torch") and _built_for_cuda(other) for other in others)
    works = torch is not None and bool(torch.get("available") or torch.get("cuda") or torch.get("hip"))
    return cpu and not cuda and not works and mac is None and asked is None


def _for_processors(entries: list[str]) -> bool:
    return any(entry.rstrip("/").endswith("download.pytorch.org/whl/cpu") for entry in entries)


@text_rule("cpu-only-torch", "likely")
def own_settings_name_the_index_for_processors(
    source: PackageSource = one(entries=Passes(_for_processors)),
    torch: Torch = one(available=False),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """A project's or a user's settings take torch from the index that has builds for the processor alone."""
    plain = not torch.get("cuda") and not torch.get("hip")
    return plain and bool(gpu or driver) and {"index": source.entries[0]}


mends("cpu-only-torch")(a_build_that_serves_the_card)


mends("cpu-only-torch")(what_conda_is_asked)
mends("cpu-only-torch")(environment_that_has_one_for_cards)
mends("cpu-only-torch")(web_ui_has_its_own_way)
