"""Lists of adapters beside DirectML: its own, Windows's, and what a program prints of both."""

import re

from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

_MARKS = ("directml", "DirectML", "Directml", "DmlExecution", "dml_provider", "privateuseone", "ExecutionProvider_DML")
_NAME = r"(?P<name>(?:Intel|AMD|NVIDIA|Radeon|GeForce)(?:\([RT]M?\))?(?: [\w()+-]{1,20}){1,6}?)"
_END = r"(?=[ \t]*(?:\n|\Z)|[ \t]{2,}|[,;|]| [(|]| (?:Dedicated|integrated|native)\b)"
# A number before a name: `0 AMD Radeon(TM) Graphics`, `[1] NVIDIA …`, `GPU 0  Intel(R) …`, `Device 1: AMD …`.
_NUMBERED = r"(?:^[ \t>]{0,8}|[ \t])(?:GPU |Device |adapter |DXGI )?\[?(?P<index>\d)\]?(?:[:.]| -)?[ \t]{1,6}" + _NAME + _END
# A whole name of a card that is no processor's graphics.
_CARD = r"\b(?P<name>NVIDIA GeForce [RG]TX? \d{3,4}(?: Ti)?(?: SUPER)?(?: Laptop GPU)?|(?:AMD )?Radeon RX \d{3,4}\w{0,3}(?: XTX?| GRE)?|Intel\(R\) Arc\(TM\) [AB]\d{3}M?)\b"


# What Python prints of `[torch_directml.device_name(i) for i in range(2)]`.
_LISTED = r"\.device_name\([^\n]{0,120}\n[ \t]{0,4}\[(?P<names>(?:['\"][^'\"\n]{4,60}['\"](?:, )?){2,8})\]"


@reads(adds=(Gpu,), marks=("directml",), rank=-1)
def adapters_in_a_list(text: Text) -> Statements:
    """All adapters in their order."""
    for hit in text.each(_LISTED):
        for index, name in enumerate(re.findall(r"['\"]([^'\"]{4,60})['\"]", hit["names"])):
            yield hit.states(Gpu, runtime_index=index, **_gpu_fields(name))


@reads(adds=(Gpu,), marks=_MARKS, rank=-1)
def adapters_with_directml(text: Text) -> Statements:
    """Numbered rows tell which adapter a program takes first; a whole name elsewhere tells that such a card is there."""
    numbered = {hit["index"]: hit for hit in text.each(_NUMBERED)}
    for index, hit in sorted(numbered.items()):
        yield hit.states(Gpu, runtime_index=int(index), **_gpu_fields(hit["name"]))
    if len(numbered) > 1 or text.first(_LISTED):
        return
    for name, hit in {hit["name"]: hit for hit in text.each(_CARD)}.items():
        yield hit.states(Gpu, **_gpu_fields(name))


# D3d12info's and dxgi's own: `DXGI Adapter 1:`, rules and headings, `    Description = Intel(R) HD Graphics 630`.
_DESCRIBED = r"^[> \t]{0,20}(?:DXGI )?Adapter[ \t]?#?(?P<index>\d):?[ \t]*\n(?:[ \t=-]*\n|[ \t]*DXGI_ADAPTER_DESC\d?:[ \t]*\n){0,6}[ \t]{0,12}Description[ \t]{0,8}[=:] ?(?P<name>[^\n]{4,60}?)[ \t]*$"


@reads(adds=(Gpu,), marks=("DXGI Adapter", "DXGI_ADAPTER_DESC"), rank=-1)
def adapters_of_dxgi(text: Text) -> Statements:
    """The order of DXGI is that by which a plain number of DirectML counts."""
    for hit in text.each(_DESCRIBED):
        if "Basic Render" not in hit["name"]:
            yield hit.states(Gpu, runtime_index=int(hit["index"]), **_gpu_fields(hit["name"]))


def _gpu_fields(name: str) -> dict[str, object]:
    row = one_gpu(name)
    fields: dict[str, object] = {"name": name, "vendor": row.vendor if row else _maker(name)}
    if re.search(r"(?:RTX|GTX|Radeon RX|Arc\(TM\) [AB])", name):
        fields["integrated"] = False
    return fields


def _maker(name: str) -> str:
    return "intel" if name.startswith("Intel") else "nvidia" if name.startswith(("NVIDIA", "GeForce")) else "amd"
