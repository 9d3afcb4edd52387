"""What short pieces of a session tell of builds: torch's list of what it serves, what was installed, one question and its answer."""

import re

from rigup.knowledge.chips import isa_of_capability
from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Distribution, Driver, Gpu, Package, Platform, TensorFlow, Toolkit, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.packages import kept
from rigup.machine.readers.systems import os_of
from rigup.machine.readers.torch_build import dotted
from rigup.machine.readers.values import says
from rigup.machine.texts import Text

_NAME = r"(?P<name>(?:NVIDIA|Tesla|Quadro|GeForce|TITAN|Titan)[\w -]{1,60}?)"
_OF_HIP = r"(?![^\n]{0,60}(?:Radeon|Instinct|\bAMD\b|\bgfx\d))"


@reads(marks=("which supports hardware CC", "compute capability (CC)"), adds=(Gpu, Torch), rank=0)
def torch_served_list(text: Text) -> Statements:
    """`Found GPU0 Tesla V100 which is of compute capability (CC) 7.0`, and a line for each capability that is built for."""
    for hit in text.each(
        r"Found GPU(?P<index>\d{1,3}) " + _OF_HIP + r"(?P<name>[^\n]{1,80}?) which is of compute capability \(CC\) (?P<told>\d{1,2}\.\d)"
    ):
        yield from says(
            text,
            Gpu,
            hit.start,
            vendor="nvidia",
            name=hit["name"],
            isa=isa_of_capability(hit["told"]),
            runtime_index=int(hit["index"]),
            seen_by="torch",
        )
    served = list(text.each(r"^[> \t]{0,20}- (?P<told>\d{1,2}\.\d) which supports hardware CC"))
    code = [isa for hit in served if (isa := isa_of_capability(hit["told"]))]
    if code:
        yield served[0].states(Torch, code=code)


@reads(marks=("NVIDIA ", "Tesla ", "Quadro ", "GeForce ", "TITAN "), adds=(Gpu,), rank=-1)
def card_on_a_line(text: Text) -> Statements:
    """`Tesla T4, 7.5`, or a card's name that is a line of its own: nvidia-smi's csv without its head line."""
    for hit in text.each(r"^(?:\d{1,2}, ?)?" + _NAME + r", ?\d{3,6} MiB(?:,[^\n]{0,80})?$"):
        yield from says(text, Gpu, hit.start, vendor="nvidia", name=hit["name"], seen_by="nvidia-smi")
    for hit in text.each(r"^(?:\d{1,2}, ?)?" + _NAME + r", ?(?P<told>\d{1,2}\.\d)[ \t]*$"):
        yield from says(text, Gpu, hit.start, vendor="nvidia", name=hit["name"], isa=isa_of_capability(hit["told"]), seen_by="nvidia-smi")
    alone = {hit["name"]: hit.start for hit in text.each(r"^" + _NAME + r"[ \t]*$") if re.search(r"\d", hit["name"])}
    row = one_gpu(next(iter(alone))) if len(alone) == 1 else None
    if row and row.vendor == "nvidia":
        name, at = next(iter(alone.items()))
        yield from says(text, Gpu, at, vendor="nvidia", name=name, isa=row.isa or None)


@reads(
    marks=("Successfully installed ", " + torch", " + tensorflow", " + nvidia-", " + jax", " + onnxruntime", " + cupy"),
    adds=(Package,),
    rank=-1,
)
def installed_just_now(text: Text) -> Statements:
    """pip's last line, `Successfully installed numpy-2.4.6 torch-2.4.0+cpu`, and uv's ` + torch==2.4.0+cpu`."""
    for hit in text.each(
        r"^(?:[\w.-]{1,40} {1,12}\| {1,4}|#\d{1,3} [\d.]{1,10} |[ \t>]{0,8})Successfully installed (?P<all>[^\n]{3,8000})"
    ):
        for match in re.finditer(r"(?<!\S)([A-Za-z][\w.-]{1,60}?)-(\d[\w.!+]{0,60})(?!\S)", hit["all"]):
            yield from _package(text, hit.match.start("all") + match.start(), match[1], match[2])
    for hit in text.each(r"^[ \t]{0,4}\+ (?P<name>[a-z][\w.-]{1,60})==(?P<version>\d[\w.!+]{0,60})[ \t]*$"):
        yield from _package(text, hit.start, hit["name"], hit["version"])


def _package(text: Text, at: int, name: str, version: str) -> Statements:
    if known := kept(name):
        yield from says(text, Package, at, name=known, version=version, manager="pip")


@reads(marks=("is_cuda_build", "uilt with CUDA", "uilt_with_cuda", "msvcp_dll_name"), adds=(TensorFlow, Platform), rank=0)
def tensorflow_build_info(text: Text) -> Statements:
    """`('is_cuda_build', False)`, `built with CUDA: False`; the names of Microsoft's libraries stand in builds for Windows."""
    forms = (
        r"['\"]?is_cuda_build['\"]?[\],)=: \t]{1,6}(?P<value>True|False)\b",
        r"\b(?:TF|[Tt]ensor[Ff]low|tensorflow)\b[^\n]{0,40}\b[Bb]uilt with CUDA(?: support)?[?:= \t]{1,4}(?P<value>True|False)\b",
        r"^[ \t>*-]{0,6}(?:is_)?[Bb]uilt[ _]with[ _](?:CUDA|cuda)(?:\(\))?[?:= \t]{1,4}(?P<value>True|False)[ \t]*$",
    )
    if hit := next((found for form in forms if (found := text.first(form))), None):
        yield hit.states(TensorFlow, built_with_cuda=hit["value"] == "True")
    if hit := text.first(r"['\"]msvcp_dll_names?['\"]"):
        yield hit.states(Platform, system="windows")


@reads(marks=("tf.__version__",), adds=(TensorFlow,), rank=0)
def tensorflow_on_one_line(text: Text) -> Statements:
    """`python -c "…; print(tf.__version__); print(tf.config.list_physical_devices('GPU'))"` and the two lines below."""
    command = r"tf\.__version__[^\n]{1,60}list_physical_devices\(['\"]{0,2}(?:GPU)?['\"]{0,2}\)[^\n]{0,10}\n"
    for hit in text.each(command + r"(?P<version>\d\.\d{1,2}\.\d)[,\s]{1,4}(?P<seen>\[[^\n]{0,400})"):
        yield hit.states(TensorFlow, version=hit["version"], gpus=hit["seen"].count(":GPU:"))


@reads(marks=("device_type='CPU'", "Num GPUs"), adds=(TensorFlow,), rank=-1)
def tensorflow_physical_devices(text: Text) -> Statements:
    """`[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]`, and `Num GPUs: 0`."""
    for hit in text.each(r"^[^\n\[]{0,20}\[(?P<all>PhysicalDevice\(name=[^\n]{1,1000})\][ \t]*$"):
        yield hit.states(TensorFlow, gpus=len(re.findall(r"device_type='GPU'", hit["all"])))
    for hit in text.each(r"^[ \t>*-]{0,6}Num GPUs[:=][ \t]{0,4}(?P<count>\d{1,2})[ \t]*$"):
        yield hit.states(TensorFlow, gpus=int(hit["count"]))


@reads(marks=("device_type: ",), adds=(TensorFlow,), rank=0)
def tensorflow_local_devices(text: Text) -> Statements:
    """`device_lib.list_local_devices()`: a block for each device, with its kind."""
    kinds = list(text.each(r"^[> \t\[]{0,8}device_type: \"(?P<kind>[A-Z_]{2,12})\"[ \t]*$"))
    if kinds and any(hit["kind"] == "CPU" for hit in kinds):
        yield kinds[0].states(TensorFlow, gpus=sum(hit["kind"] == "GPU" for hit in kinds))


@reads(marks=("cuda_getDriverVersion()", "cudaDriverGetVersion"), adds=(Driver,), rank=0)
def carried_cuda(text: Text) -> Statements:
    """`torch._C._cuda_getDriverVersion()` and the number below: 9010 is CUDA 9.1."""
    for hit in text.each(
        r"(?:_cuda_getDriverVersion\(\)|cudaDriverGetVersion(?:\(\))?)[\s:=>)]{1,8}(?:Out ?\[\d{1,4}\]: ?)?(?P<value>\d{4,5})[ \t]*$"
    ):
        yield hit.states(Driver, vendor="nvidia", cuda=_of_number(int(hit["value"])))


def _of_number(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


@reads(marks=("torch cuda version", "nvcc version ."), adds=(Torch, Toolkit), rank=0)
def deepspeed_report(text: Text) -> Statements:
    """ds_report: `torch cuda version ............... 12.1`, `nvcc version ..................... 11.2`."""
    dots = r" \.{3,60} (?P<value>\d{1,2}\.\d{1,2})[ \t]*$"
    for hit in text.each(r"^[> \t]{0,8}torch cuda version" + dots):
        yield hit.states(Torch, cuda=hit["value"])
    for hit in text.each(r"^[> \t]{0,8}torch version \.{3,60} (?P<value>\d{1,2}\.\d{1,2}\.\d[\w.+]{0,20})[ \t]*$"):
        yield hit.states(Torch, version=hit["value"])
    for hit in text.each(r"^[> \t]{0,8}nvcc version" + dots):
        yield hit.states(Toolkit, name="cuda", version=hit["value"])


@reads(marks=(" release ", '\nVERSION="'), adds=(Distribution,), rank=-1)
def release_on_a_line(text: Text) -> Statements:
    """`CentOS Linux release 7.9.2009 (Core)`, as /etc/redhat-release has it."""
    makers = r"(?:CentOS|Red Hat Enterprise Linux|Rocky Linux|AlmaLinux|Scientific Linux|Oracle Linux)"
    for hit in text.each(r"^NAME=\"(?P<name>[A-Z][\w /]{2,40})\"\nVERSION=\"(?P<number>\d{1,2}(?:\.\d{1,2})?)"):
        yield from os_of(text, hit.start, f"{hit['name']} {hit['number']}")
    for hit in text.each(
        r"^[> \t]{0,8}(?P<name>"
        + makers
        + r"(?: Linux)?(?: Server| Workstation)?) release (?P<number>\d{1,2}(?:\.\d{1,4}){0,2})(?: \([\w ]{1,30}\))?[ \t]*$"
    ):
        yield from os_of(text, hit.start, f"{hit['name']} {hit['number']}")


@reads(marks=("/whl/cu", "torch @ ", 'name = "torch"', ".dist-info"), adds=(Torch, Package), rank=-1)
def wheel_by_its_name(text: Text) -> Statements:
    """`pip3 install https://…/whl/cu100/torch-1.0.1.post2-cp35-…`: the folder tells which CUDA it is for. Freezes, locks and folders name wheels too."""
    forms = (
        r"^[ \t>]{0,8}torch @ \S{1,300}/torch-(?P<version>\d[\d.]{2,12}(?:(?:%2B|\+)\w{2,10})?)-cp",
        r"^name = \"torch\"\nversion = \"(?P<version>\d[\w.+]{2,30})\"",
        r"(?:^|[ \t/])torch-(?P<version>\d[\d.]{2,12}\+\w{2,10})\.dist-info\b",
    )
    for written in forms:
        for hit in text.each(written):
            version = hit["version"].replace("%2B", "+")
            yield from says(text, Package, hit.start, name="torch", version=version, manager="pip")
    form = r"pip[\d.]{0,4} install [^\n]{0,200}?/whl/(?P<cuda>cu\d{2,3})/torch-(?P<version>\d\.\d{1,2}\.\d{1,2})(?:\.post\d)?(?:(?:%2B|\+)\w{3,6})?-cp"
    for hit in text.each(form):
        yield hit.states(Torch, version=hit["version"], cuda=dotted(hit["cuda"]))


@reads(marks=("torch.version.cuda", "torch.cuda.is_available() ", "device='cuda"), adds=(Torch,), rank=-1)
def torch_self_report(text: Text) -> Statements:
    """`torch.version.cuda = 11.8`; a tensor that was printed from the GPU, which takes a GPU that computes."""
    for hit in text.each(r"^[ \t>*-]{0,6}torch\.version\.cuda[ \t]{0,4}[:=]{1,2}[ \t]{0,4}['\"]?(?P<cuda>\d{1,2}\.\d)['\"]?[ \t]*$"):
        yield hit.states(Torch, cuda=hit["cuda"])
    for hit in text.each(r"^[ \t>*-]{0,6}torch\.cuda\.is_available\(\)[ \t]{1,4}(?P<value>True|False)[ \t]*$"):
        yield hit.states(Torch, available=hit["value"] == "True")
    if shown := text.first(
        r"^(?:Out ?\[\d{1,4}\]: ?)?tensor\(\[{1,3}[\d][^\n]{0,200}\], device='cuda:\d{1,2}'(?:, dtype=[\w.]{1,20})?\)[ \t]*$"
    ):
        yield shown.states(Torch, available=True)


@reads(marks=("libtorch_cpu.so", "torch_cpu.dll"), adds=(Torch,), rank=-1)
def libraries_of_torch(text: Text) -> Statements:
    """A listing of torch/lib: a build for processors has its part for them alone. A traceback names some of them, and not all."""
    for all_ in (
        ("libtorch_cpu.so", "libc10.so", "libtorch_global_deps.so"),
        ("libtorch_cpu.so", "libtorch_python.so", "libtorch_global_deps.so"),
        ("torch_cpu.dll", "torch_python.dll", "c10.dll"),
        ("torch_cpu.dll", "uv.dll", "c10.dll"),  # libtorch, without Python
        ("libtorch_cpu.so =>", "libc10.so =>", "libtorch.so"),  # ldd: one with CUDA is linked to its part for CUDA too
        ("libtorch_cpu.so", "libtorch_python.so", "/maps"),  # what a running program has loaded
    ):
        listed = all(name in text.body for name in all_)
        if listed and not re.search(r"(?:torch|c10)_(?:cuda|hip|xpu)", text.body):
            found = text.first(re.escape(all_[0]))
            if found:
                yield found.states(Torch, cuda=None, hip=None)
                break


@reads(marks=("pytorch/pytorch:",), adds=(Torch,), rank=-2)
def torch_of_an_image(text: Text) -> Statements:
    """`pytorch/pytorch:2.1.0-cuda11.8-cudnn8-runtime`; where several are named, nobody knows which is used."""
    form = r"(?<![\w./-])pytorch/pytorch:(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)-cuda(?P<cuda>\d{1,2}\.\d{1,2})-"
    hits = list(text.each(form))
    if len({hit.match.group() for hit in hits}) == 1:
        yield hits[0].states(Torch, version=hits[0]["version"], cuda=hits[0]["cuda"])


@reads(marks=("cuda_is_available()", "cuda_device_count()"), adds=(Torch,), rank=0)
def torch_of_r(text: Text) -> Statements:
    """R's own `torch::cuda_is_available()`, and `[1] FALSE` below."""
    for hit in text.each(r"^[> \t]{0,6}(?:torch::)?cuda_is_available\(\)[ \t]*\n\[1\] (?P<value>TRUE|FALSE)[ \t]*$"):
        yield hit.states(Torch, available=hit["value"] == "TRUE")
    for hit in text.each(r"^[> \t]{0,6}(?:torch::)?cuda_device_count\(\)[ \t]*\n\[1\] (?P<value>\d{1,2})[ \t]*$"):
        yield hit.states(Torch, devices=int(hit["value"]))


@reads(marks=("/device:CPU:0",), adds=(TensorFlow,), rank=-1)
def tensorflow_device_names(text: Text) -> Statements:
    """`['/device:CPU:0', '/device:XLA_CPU:0']`: all that it has, by their names alone."""
    for hit in text.each(r"^[^\n\[]{0,20}\[(?P<all>['\"]/device:CPU:0['\"](?:, ?['\"]/device:[A-Z_]{2,10}:\d{1,2}['\"]){0,16})\][ \t]*$"):
        yield hit.states(TensorFlow, gpus=len(re.findall(r"/device:GPU:", hit["all"])))


@reads(marks=("cuobjdump",), adds=(Torch,), rank=-1)
def kernels_of_torchs_library(text: Text) -> Statements:
    """`cuobjdump --list-elf …/libtorch_cuda.so`: the chips that it has code for, each line or each once."""
    for hit in text.each(
        r"\bcuobjdump\b[^\n]{1,160}\b(?:lib)?torch_cuda\w{0,12}\.(?:so|dll)\b[^\n]{0,160}\n(?P<rows>(?:[^\n]{0,160}\bsm_\d{2,3}[^\n]{0,40}\n?){1,400})"
    ):
        yield hit.states(Torch, code=list(dict.fromkeys(re.findall(r"\bsm_\d{2,3}", hit["rows"]))))


@reads(marks=("PyTorch built with:", "TORCH_VERSION="), adds=(Torch, Platform), rank=-1)
def torch_build_settings(text: Text) -> Statements:
    """`torch.__config__.show()`: `TORCH_VERSION=2.1.0, USE_CUDA=0`."""
    for hit in text.each(
        r"TORCH_VERSION=(?P<version>\d[\w.]{2,20})[^\n]{0,200}?\bUSE_CUDA=(?P<cuda>\w{1,3})\b(?:[^\n]{0,200}?\bUSE_ROCM=(?P<hip>\w{1,3}))?"
    ):
        off = hit["cuda"] in ("0", "OFF") and hit["hip"] in ("", "0", "OFF")
        yield hit.states(Torch, version=hit["version"], **({"cuda": None, "hip": None} if off else {}))
    if hit_ := text.first(r"^[ \t]{0,4}- MSVC \d{6,10}"):
        yield hit_.states(Platform, system="windows")
