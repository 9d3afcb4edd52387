"""What is told and not changed: each with its line, for somebody has to decide it."""

import ast
import re

from rigup.train.port.flow import Flow, last
from rigup.train.port.script import Script

_NORMS = re.compile(r"torch\.nn\.(?:BatchNorm[123]d|LazyBatchNorm[123]d)")
_KERNELS = (
    "cupy",
    "pycuda",
    "apex",
    "torch.utils.cpp_extension",
    "numba.cuda",
    "triton",
    "flash_attn",
    "bitsandbytes",
    "xformers",
    "tensorrt",
    "torch_tensorrt",
    "pynvml",
    "GPUtil",
    "nvidia_smi",
    "spconv",
    "pytorch3d",
    "transformer_engine",
)
_OTHERS = {
    "lightning": "Lightning",
    "pytorch_lightning": "Lightning",
    "lightning_fabric": "Lightning",
    "accelerate": "accelerate",
    "deepspeed": "DeepSpeed",
    "horovod": "Horovod",
    "ray.train": "Ray",
    "composer": "Composer",
    "ignite.distributed": "Ignite",
    "fastai": "fastai",
    "catalyst": "Catalyst",
    "torch.distributed": "torch.distributed",
    "torch.nn.parallel.DistributedDataParallel": "DistributedDataParallel",
    "torch.multiprocessing.spawn": "torch.multiprocessing.spawn",
    "mmcv": "mmcv",
    "mmengine": "mmengine",
    "detectron2": "detectron2",
    "torchtune": "torchtune",
    "torch_xla": "torch_xla",
    "colossalai": "ColossalAI",
    "fairscale": "FairScale",
}
_TRAINERS = re.compile(r"(?:transformers|trl|setfit|sentence_transformers)\.(?:.*\.)?\w*Trainer")


def framework(script: Script) -> str:
    """What places the work of this script already; "" for nothing."""
    names = set(script.module.imports.values()) | set(script.module.stars)
    names |= {script.called(call) for call in script.calls}
    for node in script.module.nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    if "rigup.train.join" in names:
        return "rigup.train"
    for name in sorted(names):
        if _TRAINERS.fullmatch(name):
            return name
        for start, family in _OTHERS.items():
            if name == start or name.startswith(start + "."):
                return family
    return ""


def kernels(script: Script) -> None:
    """Libraries and programs that are NVIDIA's alone."""
    for node in script.module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                full = f"{base}.{alias.name}" if base else alias.name
                hit = next((name for name in _KERNELS if full == name or full.startswith(name + ".")), "")
                if hit or (re.search(r"(?:^|[._])cuda$|_cuda\b", full.removeprefix("torch.cuda")) and not full.startswith("torch")):
                    script.remark("kernels", node, hit or full)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 500 and "nvidia-smi" in node.value:
            if any(isinstance(here, ast.Call) for here, _child in script.module.ancestors(node)):
                script.remark("nvidia-smi", node, node.value)
        elif (
            isinstance(node, ast.keyword)
            and node.arg in ("device_map", "load_in_8bit", "load_in_4bit")
            and not (isinstance(node.value, ast.Constant) and not node.value.value)
        ):
            script.remark("device-map", node, script.label(node))


def many(script: Script, flow: Flow) -> None:
    """What changes with the number of processes."""
    for call in script.calls:
        name = script.called(call)
        if _NORMS.fullmatch(name):
            script.remark("batchnorm", call, last(call.func))
        elif name == "torch.nn.DataParallel" or name.endswith("parallel.DataParallel"):
            script.remark("data-parallel", call, script.label(call), stops="ranks")
        elif name == "torch.autograd.grad":
            script.remark("second-derivative", call, script.label(call.func), stops="ranks")
        elif last(call.func) == "ReduceLROnPlateau":
            script.remark("plateau", call, last(call.func))
    _once(script, "batchnorm")
    _figures(script, flow)


def _figures(script: Script, flow: Flow) -> None:
    """What is told or decided of one process's part of the data."""
    for loop in flow.loops:
        for node in script.own_nodes(loop):
            if isinstance(node, ast.Break) and _unsure(script, node):
                script.remark("early-stop", node)
    for loop in [node for node, _found in flow.iterated() if flow.trains(node)]:
        for node in script.own_nodes(script.function(loop) or script.module.tree):
            if _figure(node) and not flow.without_gradient(node):
                script.remark("metrics", node, script.label(node))
    _once(script, "metrics")


def _figure(node: ast.AST) -> bool:
    """Whether a node takes a figure off the device, such as `loss.item()`."""
    return isinstance(node, ast.Call) and last(node.func) == "item" and not node.args


def _unsure(script: Script, node: ast.AST) -> bool:
    """Whether what ends a loop is decided by a figure."""
    tests = [here.test for here in script.within(node, (ast.If,)) if isinstance(here, ast.If)]
    return any(re.search(r"loss|acc|best|patience|stop|metric|score|counter|bad", ast.unparse(test)) is not None for test in tests)


def _once(script: Script, kind: str) -> None:
    """Tell the first of a kind alone."""
    of_kind = [remark for remark in script.remarks if remark.kind == kind]
    first = min(of_kind, key=lambda remark: remark.line, default=None)
    script.remarks = [remark for remark in script.remarks if remark.kind != kind or remark is first]
