"""What a second look shows: a container's own description, a module's file beside the loaded one, who holds a card, what a program was built for.

Each rule asks for the line that decides, and for what it is held against; alone it is silent.
"""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT, same_version
from rigup.diagnosis.rules.library import of_a_night
from rigup.diagnosis.rules.memory import GIB, size
from rigup.diagnosis.rules.rocm import helps, inside_a_processor
from rigup.diagnosis.rules.scheduler import per_node, tasks_per_node
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.chips import runs_on
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.machine.kinds import (
    Gpu,
    JobRequest,
    KernelModule,
    Package,
    PciDevice,
    Platform,
    Symptom,
    Toolkit,
    Torch,
    UnloadedModule,
    Variable,
)

_MIB = 1 << 20
_NO_CODE = ("hip-invalid-device-function", "hip-no-binary", "hip-no-kernel-image", "hip-kernel-image-invalid")
_DIES = ("hsa-hang-exception", "gpu-memory-access-fault", "segmentation-fault", "segmentation-fault-signal")
_MADE_UP = ("made-up-display-of-qemu", "made-up-display-virtio")
_MASKS = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
_PLAIN = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")
_REFUSED = ("server-has-no-room", "cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "torch-out-of-memory")
_SCALES = (1000, 10000)  # NVIDIA's libraries write 12.2.0 as 12200, newer ones as 120200


# -- libraries
@rule("broken-wheel-missing-library", "likely")
def torch_of_a_night_lacks_a_library(
    error: Symptom = seen("cuda-library-not-found"), _own: Symptom = seen("torch-c-part-imported"), _torch: Torch = one(version=Told(of_a_night)),
) -> Verdict:  # fmt: skip
    """torch's own compiled part fails to load, and the release that stands there is a night's: such a build should bring all that it links."""
    return {"lib": error.lib}


@rule("cudnn-version-incompatible")
def headers_and_library_are_of_two_majors(
    _said: Symptom = seen("cudnn-parts-differ"), header: Symptom = seen("cudnn-of-the-headers"), linked: Symptom = seen("ldd-cuda-library"),
) -> Verdict:  # fmt: skip
    """A program of one's own was compiled with the headers of one cuDNN, and the loader gives it another's library."""
    found = re.fullmatch(r"libcudnn\w{0,30}\.so\.(\d{1,2})", str(linked.lib))
    return bool(found) and found is not None and found[1] != header.major and {"built": header.major, "found": found[1]}


@rule("library-clash-ld-library-path", "likely")
def environment_modules_cublas_refuses_a_value(
    _said: Symptom = seen("cublas-refuses-a-value"), way: Symptom = seen("environment-module-of-cuda"), torch: Symptom = seen("torch-named"),
) -> Verdict:  # fmt: skip
    """A plain product is refused by cuBLAS where a module puts a toolkit's folder before the one that torch brings."""
    return {"folder": way.module, "lib": "libcublas.so", "said": torch.id}


@rule("library-clash-ld-library-path", "likely")
def jax_finds_an_older_library_than_its_package(
    said: Symptom = seen("jax-library-older"), package: Package = one()
) -> Verdict:
    """The package that is installed is what jax was built against, so the older one comes from elsewhere."""
    named = re.fullmatch(r"nvidia-(\w{3,12})-cu\d{2}", package.name)
    parts = (*version_key(str(package.version))[:3], 0, 0)[:3]
    numbers = {parts[0] * scale + parts[1] * 100 + parts[2] for scale in _SCALES}
    same = bool(named) and named is not None and named[1].lower() == str(said.library).lower()
    return same and int(said.built) in numbers and {"lib": said.library}


@rule("rocm-abi-mismatch", "likely")
def installed_package_is_of_another_number(
    error: Symptom = seen("rocm-library-not-loaded"), package: Symptom = seen("rocm-package-of-a-library")
) -> Verdict:
    """The system has that library, by a number which is not the one that is asked for."""
    return other_number(error, package) and {"have": package.major}


def other_number(error: Symptom, package: Symptom) -> bool:
    """Whether the package is of that library, and of another major: these libraries bear their package's."""
    want = str(error.get("want") or "")
    return str(error.get("lib")) == f"lib{package.name}" and want.isdigit() and want != str(package.major)


@rule("cuda-runtime-library-missing", "likely")
def hashcat_misses_what_the_loader_does_not_know(
    _said: Symptom = seen("hashcat-misses-the-toolkit"),
    none: Symptom = seen("loader-knows-no-such-library", lib="libnvrtc"),
) -> Verdict:
    """Its own words alone are no fault, for it goes on with OpenCL; somebody who looks for the library wants CUDA."""
    return {"lib": f"{none.lib}.so", "program": "hashcat"}


# -- wheels
@rule("extension-without-platform-build", "likely")
def package_has_no_compiled_file(
    part: Symptom = seen("compiled-part-not-found"), _none: Symptom = seen("no-compiled-file-in-the-package")
) -> Verdict:
    """The import misses the package's compiled part, and its folder holds no such file."""
    return {"name": part.package}


@rule("tensorflow-windows-no-gpu", "likely")
def extra_of_linux_was_asked_for_on_windows(
    said: Symptom = seen("release-of-tensorflow-without-that-extra"), platform: Platform = one(system="windows")
) -> Verdict:
    """Who asks for that extra wants the GPU; this release's wheel for Windows has no CUDA."""
    return platform.get("wsl") is None and tensorflow_on_windows(said.version) is False and {"version": said.version}


@rule("nvcc-differs-from-torch-cuda", "likely")
def operations_are_compiled_by_another_major(
    _asked: Symptom = seen("deepspeed-operations-asked-for"), torch: Torch = one(cuda=Told(bool)), toolkit: Toolkit = one(name="cuda"),
) -> Verdict:  # fmt: skip
    """DeepSpeed is told to compile as it is installed, and nvcc is of another major than torch."""
    return version_key(str(toolkit.version))[:1] != version_key(str(torch.cuda))[:1] and {"want": torch.cuda}


# -- drivers
@rule("nvml-driver-library-mismatch", "likely")
def file_of_the_module_was_replaced(
    shown: Symptom = seen("module-on-the-disk-and-in-the-kernel"), said: Symptom = seen(*SILENT, *NO_CUDA, "nvtop-has-nothing-to-watch"),
) -> Verdict:  # fmt: skip
    """The module that lies there is of another release than the one that runs, and a program finds no GPU: not restarted since."""
    return not same_version(shown.file, shown.loaded) and {"library_version": shown.file, "said": said.id}


@rule("nvidia-module-not-loaded", "likely")
def module_was_built_and_nobody_loaded_it(
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None), module: KernelModule = one(name="nvidia", loaded=False), _gone: UnloadedModule = one(name="nvidia"),
    platform: Platform | None = None, others: Every[KernelModule] = every(KernelModule, loaded=True),
) -> Verdict:  # fmt: skip
    """No driver has the card, the list of modules has no nvidia, and modinfo finds its file; of which kernel, nobody says."""
    known = platform is not None and platform.knows("release")
    foreign = any(other.name in ("nouveau", "vfio_pci") for other in others)
    return not known and not foreign and bool(module.built_for)


@rule("vm-without-gpu-passthrough", "likely")
def guests_own_description_lends_none(
    none: Symptom = seen("guest-is-lent-no-card"), _shown: Symptom = seen(*_MADE_UP)
) -> Verdict:
    """The host's description of the guest names no card, and the guest draws by a display that is made up."""
    return {"severity": "error", "said": none.id}


# -- places
@rule("container-without-gpu", "likely")
def container_has_no_node_of_nvidia(
    none: Symptom = seen("no-node-of-nvidia-in-the-container"), _card: Gpu = one(vendor="nvidia"), windows: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """The host has a card, and somebody counts no node of it inside. In a WSL there are none anywhere."""
    return windows is None and {"vendor": "nvidia", "said": none.id}


@rule("container-without-gpu", "likely")
def container_was_given_no_node(
    none: Symptom = seen("container-was-made-without-nodes"),
    _card: Gpu = one(vendor="amd"),
    torch: Torch = one(available=False),
) -> Verdict:
    """The engine lists no device for it; torch for ROCm finds none inside, and the host's own list has the card."""
    return bool(torch.get("hip")) and {"vendor": "amd", "said": none.id}


@rule("container-runtime-without-jetson-support", "likely")
def description_is_made_as_for_a_desktop(
    said: Symptom = seen("cdi-finds-no-library-of-the-driver"), _module: Symptom = seen("tegra-kernel-shown", "jetson-image-named", "l4t-package-shown"),
) -> Verdict:  # fmt: skip
    """A Jetson has no NVML by which the tool could find its GPU: it is described by lists of files."""
    return {"said": said.id}


@rule("jupyter-kernel-other-env", "likely")
def cell_has_another_prefix_than_the_shell(
    own: Symptom = seen("cell-prints-its-prefix"), shell: Symptom = seen("cell-asks-the-shell-which"), _error: Symptom = seen("module-not-found", "notebook-module-missing"),
) -> Verdict:  # fmt: skip
    """A cell's own prefix is another than that of the Python which its shell finds, and the cell misses a module."""
    return str(own.prefix).rstrip("/") != str(shell.prefix).rstrip("/") and {"python": f"{own.prefix}/bin/python"}


# -- jobs
@rule("slurm-ntasks-mismatch", "likely")
def world_has_one_rank_for_each_node(
    job: JobRequest = one(launcher="srun"), said: Symptom = seen("rank-of-a-world-on-a-host")
) -> Verdict:
    """As many ranks as nodes announce themselves, each on its first card, and every node was given several."""
    nodes, cards = job.get("nodes") or 1, per_node(job) or 1
    return nodes > 1 and int(said.world) == nodes and (tasks_per_node(job) or 1) == 1 < cards and {"tasks": 1, "devices": cards}  # fmt: skip


# -- memory
@rule("oom-fragmentation", "likely")
def summary_shows_what_lies_idle(said: Symptom = seen("memory-summary-counts-refusals")) -> Verdict:
    """torch was refused memory and keeps a good part of what it reserved unused."""
    allocated, reserved = size(said.allocated) or 0.0, size(said.reserved) or 0.0
    return int(said.refused) > 0 and reserved - allocated > 0.3 * reserved


@rule("gpu-memory-held-by-others", "likely")
def full_before_this_program_took_any(
    left: Symptom = seen("free-and-total-noted", "hip-memory-tuple"), _own: Symptom = seen("torch-holds-nothing-yet"), holder: Symptom = seen("nvidia-smi-lists-holder"),
) -> Verdict:  # fmt: skip
    """torch has reserved nothing, hardly any is free, and the driver lists a program with gigabytes."""
    much = int(holder.get("mib") or holder.get("mib2") or 0) > 4000
    return much and float(left.free) < 0.15 * float(left.total) and {"said": left.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def another_program_runs_there_for_long(
    said: Symptom = seen(*_REFUSED), holder: Symptom = seen("program-of-the-card-runs-for-long")
) -> Verdict:
    """A program was refused memory, and the one that has the card was started hours or days before."""
    long = "-" in str(holder.since) or str(holder.since).count(":") == 2
    return long and {"said": said.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def worker_outlived_its_parent(
    orphan: Symptom = seen("program-without-its-parent"), _open: Symptom = seen("fuser-lists-who-has-the-card-open")
) -> Verdict:
    """What has the card open belongs to nobody any longer: the program that started it has ended."""
    return {"said": orphan.id}


# -- memory that processor and graphics share
@rule("igpu-vram-counted-without-gtt", "likely")
def model_would_fit_both_pools(
    carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"), file: Symptom = seen("model-file-of-a-size"),
    part: Symptom = seen("layers-offloaded-in-part"), _gpu: Gpu = one(vendor="amd", name=_PLAIN), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """A part of the model only was put on a processor's graphics, though carve-out and mapped memory together would hold it."""
    vram, both = int(carved.mib) * _MIB, (int(carved.mib) + int(mapped.mib)) * _MIB
    return card is None and vram < 1.2 * (size(file.size) or 0.0) < both and {"said": part.id}


@rule("apu-vram-carveout-vs-gtt", "possible")
def model_is_larger_than_what_is_counted(
    free: Symptom = seen("device-of-a-model-and-what-is-free"), file: Symptom = seen("model-file-of-a-size"), _shared: Symptom = seen("vulkan-device-of-shared-memory"),
    gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """What the program counts for a processor's graphics is less than half of the model, and at least as much as an ordinary machine has."""
    counted = int(free.mib) * _MIB
    return (
        card is None
        and 8 * GIB < counted < 0.5 * (size(file.size) or 0.0)
        and {"said": free.id, "gpu": gpu.get("name")}
    )


@rule("apu-memory-miscount", "possible")
def little_is_free_of_a_large_pool(
    said: Symptom = seen("ollama-compute"),
    gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """The server starts, and calls a quarter of the pool free: it takes another pool's free part beside this one's total."""
    total, free = size(said.get("total")) or 0.0, size(said.get("free")) or 0.0
    return card is None and total > 16 * GIB and 0 < free < 0.25 * total and {"name": gpu.get("name")}


# -- AMD
@rule("binary-arch-missing", "likely")
def extension_was_built_for_other_chips(
    listed: Symptom = seen("extension-lists-its-targets"),
    error: Symptom = seen(*_NO_CODE),
    card: Gpu = one(vendor="amd"),
) -> Verdict:
    """The extension's own list has nothing that runs on the card."""
    code = re.findall(r"gfx[0-9a-f]{3,4}", str(listed.code))
    package = re.split(r"[_.]ext\b|\.", str(listed.file))[0]
    return not runs_on(card.isa, code) and {"said": error.id, "gfx": card.isa, "package": package}


@rule("gfx-not-in-torch-wheel", "likely")
def plain_start_fails_and_the_override_mends_it(
    torch: Torch, error: Symptom = seen(*_NO_CODE), card: Gpu = one(vendor="amd"), override: Variable = one(name="HSA_OVERRIDE_GFX_VERSION"),
    _works: Symptom = seen("tensor-on-its-device"),
) -> Verdict:  # fmt: skip
    """Without it torch has no code for the chip, with a sibling's number it computes."""
    lacks = bool(torch.get("code")) and not runs_on(card.isa, torch.code)
    return lacks and helps(card.isa, override.value) and {"gfx": card.isa, "why": error.id}


@rule("igpu-visible-beside-dgpu", "likely")
def hangs_until_the_card_alone_is_shown(
    listed: Symptom = seen("graphics-of-a-processor-listed-second"), died: Symptom = seen(*_DIES), mask: Variable = one(name=_MASKS, value="0"),
) -> Verdict:  # fmt: skip
    """torch lists a card and the graphics of a processor, its program ends, and is started anew with the card alone."""
    return inside_a_processor(listed.gfx) and {"device": 0, "severity": "error", "said": died.id, "name": mask.name}


@rule("double-visibility-mask", "likely")
def worker_prints_two_masks(
    outer: Symptom = seen("masks-in-an-environment"), inner: Symptom = seen("inner-mask-in-an-environment"), said: Symptom = seen("cuda-invalid-ordinal"),
) -> Verdict:  # fmt: skip
    """What starts the workers set both: the second mask names devices that the first has left out."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part.isdigit())
    return beyond and {"name": f"{inner.name}_VISIBLE_DEVICES", "said": said.id}


# -- DirectML
@rule("directml-op-cpu-fallback", "likely")
def many_nodes_are_left_to_the_processor(
    dml: Symptom = seen("nodes-on-directml"), cpu: Symptom = seen("nodes-on-the-processor")
) -> Verdict:
    """A few that handle shapes are always there; a quarter of a model is what DirectML has no operations for."""
    return int(cpu.count) * 3 > int(dml.count) and {"said": cpu.id}
