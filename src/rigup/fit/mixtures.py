"""What a file type makes of a model's tensors: llama.cpp's own rules, so that a size is known before anybody quantises."""

import re
from functools import cache

from rigup.fit.gguf import Tensor
from rigup.fit.model import Model
from rigup.fit.quants import block_named

_LAYER = re.compile(r"blk\.(\d{1,5})\.([a-z_]+?)(?:_exps|_shexp)?\.weight")
_ENDS = re.compile(r"_(?:S|M|L|XS|XXS|MOE)$")
_KEPT = ("norm", "ffn_gate_inp", "ssm_conv1d", "shortconv.conv", "attn_rel_b", "time_mix_", "altup", "laurel")
_COARSE = ("IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ2_S", "IQ2_M", "IQ1_M")
_ROW_TOO_SHORT = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0", "TQ1_0": "Q4_0", "TQ2_0": "Q4_0"}
_BASE = {
    "Q2_K_S": "Q2_K",
    "IQ2_M": "IQ2_S",
    "IQ2_S": "IQ2_XS",
    "IQ3_M": "IQ3_S",
    "IQ3_XS": "IQ3_S",
    "IQ3_S": "IQ3_S",
    "IQ1_S": "IQ1_S",
    "IQ1_M": "IQ1_M",
    "IQ2_XXS": "IQ2_XXS",
    "IQ2_XS": "IQ2_XS",
    "IQ3_XXS": "IQ3_XXS",
    "IQ4_XS": "IQ4_XS",
    "MXFP4_MOE": "Q8_0",
}
_TABLE = {
    "IQ2_XXS": "Q2_K",
    "IQ2_XS": "Q2_K",
    "IQ1_S": "Q2_K",
    "IQ1_M": "Q2_K",
    "IQ2_S": "IQ3_S",
    "IQ2_M": "IQ3_S",
    "IQ3_XXS": "IQ3_S",
    "TQ1_0": "Q4_K",
    "TQ2_0": "Q4_K",
}
_OUTPUT_OF_ATTENTION = {"Q2_K": "Q3_K", "IQ3_XXS": "IQ3_S", "Q3_K_M": "Q4_K", "Q3_K_L": "Q5_K", "IQ3_M": "Q4_K"}
_JOINED = {"Q3_K_M": "Q4_K", "Q3_K_L": "Q4_K", "IQ3_M": "Q4_K", "Q4_K_M": "Q5_K", "Q5_K_M": "Q6_K"}
_OF_EIGHT = ("Q2_K", "IQ3_XS", "IQ3_XXS", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M", "IQ3_S", "IQ3_M", "IQ4_XS")


def requantised(model: Model, file_type: str) -> tuple[Tensor, ...]:
    """The model's tensors as `llama-quantize` would write them, without an importance matrix."""
    seen: dict[str, int] = {}
    return tuple(_as(tensor, _type(model, tensor, file_type, seen)) for tensor in model.tensors)


def _as(tensor: Tensor, name: str) -> Tensor:
    if not name:
        return tensor
    row = block_named(name)
    if tensor.sizes[0] % row.weights:
        row = block_named(_ROW_TOO_SHORT.get(name, "IQ4_NL"))
    if tensor.sizes[0] % row.weights:
        row = block_named("F16")
    return tensor._replace(kind=row.number, bytes=tensor.numbers // row.weights * row.bytes)


@cache
def _stays(name: str, sizes: tuple[int, ...]) -> bool:
    """Vectors, norms, and small tensors that steer the large ones keep their type."""
    matrix = sum(size > 1 for size in sizes) > 1
    return not matrix or not name.endswith("weight") or any(part in name for part in _KEPT)


@cache
def _place(name: str) -> tuple[str, int]:
    """The part of a layer that a tensor is, and the layer; "" for one that is of none."""
    match = _LAYER.fullmatch(name)
    return (match[2], int(match[1])) if match else ("", 0)


@cache
def _plain(file_type: str) -> str:
    return _BASE.get(file_type) or _ENDS.sub("", file_type)


def _type(model: Model, tensor: Tensor, file_type: str, seen: dict[str, int]) -> str:
    """The new type's name; "" for a tensor that stays as it is."""
    plain = _plain(file_type)
    if _stays(tensor.name, tensor.sizes):
        return ""
    if plain in ("F32", "F16", "BF16"):
        return plain
    if file_type == "MXFP4_MOE":
        return "MXFP4" if "_exps" in tensor.name else "Q8_0"
    if tensor.name == "output.weight" or (model.tied and tensor.name == "token_embd.weight"):
        return _of_output(tensor, file_type, plain)
    part, layer = _place(tensor.name)
    chosen = _of_layer(model, part, layer, file_type, seen) if part else ""
    return chosen or (_TABLE.get(file_type, plain) if tensor.name == "token_embd.weight" else plain)


def _of_output(tensor: Tensor, file_type: str, plain: str) -> str:
    if tensor.sizes[0] % 256:
        return "Q8_0"
    if file_type in _COARSE:
        return "Q5_K"
    return plain if plain == "Q8_0" else "Q6_K"


def more_bits(layer: int, layers: int) -> bool:
    """The first and the last eighth of the layers, and every third between."""
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2


def _of_layer(model: Model, part: str, layer: int, file_type: str, seen: dict[str, int]) -> str:
    """What a type has for one part of a layer; "" where it is as everything else."""
    layers, eight = model.number("block_count"), model.number("expert_count") == 8
    chosen = ""
    if part in ("attn_v", "attn_kv_b"):
        number = seen["v"] = seen.get("v", -1) + 1
        chosen = _of_values(model, number, layers, file_type)
    elif file_type in _COARSE and file_type != "IQ3_XXS":
        chosen = _of_coarse(model, part, layer, file_type)
    elif part == "attn_k" and eight:
        chosen = "Q8_0"
    elif part in ("attn_k", "attn_q") and not eight:
        chosen = {"IQ3_XS": "IQ3_XXS", "IQ3_XXS": "IQ2_S"}.get(file_type, "")
    elif part == "attn_output":
        chosen = ("Q5_K" if file_type in _OF_EIGHT else "") if eight else _OUTPUT_OF_ATTENTION.get(file_type, "")
    elif part == "attn_qkv":
        chosen = _JOINED.get(file_type, "")
    elif part == "ffn_down":
        chosen = _of_down(layer, layers, file_type)
    elif part in ("ffn_gate", "ffn_up") and file_type == "IQ3_XS" and layers // 8 <= layer < 7 * layers // 8:
        chosen = "IQ3_XXS"
    return chosen


def _of_coarse(model: Model, part: str, layer: int, file_type: str) -> str:
    """The same for the types of about two bits and below."""
    layers, experts = model.number("block_count"), model.number("expert_count")
    finer = file_type in ("IQ2_S", "IQ2_M")
    if part == "attn_k" and experts == 8:
        return "Q4_K"
    if part == "ffn_down" and layer < layers // 8:
        return "IQ3_S" if finer else "Q2_K"
    if part == "attn_output":
        rest = "IQ2_XXS" if file_type in ("IQ1_S", "IQ1_M") else ""
        return "Q5_K" if experts == 8 else "IQ3_S" if finer else rest
    return ""


def _grouped(model: Model) -> int:
    """Heads that share a key."""
    return model.heads(0) // max(1, model.of_layer("attention.head_count_kv", 0, 1) or 1)


def _of_values(model: Model, number: int, layers: int, file_type: str) -> str:
    grouped = _grouped(model)
    if model.number("expert_count") == 8:
        return "Q8_0"
    if file_type in _COARSE and file_type != "IQ3_XXS":
        finer = "IQ3_S" if file_type in ("IQ2_S", "IQ2_M") else "Q2_K"
        return "Q4_K" if grouped >= 4 or model.number("expert_count") >= 4 else finer
    chosen = ""
    if file_type == "Q2_K":
        chosen = "Q4_K" if grouped >= 4 else "Q3_K"
    elif file_type in ("Q2_K_S", "IQ3_XXS", "IQ3_XS", "IQ3_S") and grouped >= 4:
        chosen = "Q4_K"
    elif file_type in ("IQ4_NL", "IQ4_XS") and grouped >= 4:
        chosen = "Q5_K"
    elif file_type in ("Q4_K_M", "Q5_K_M") and more_bits(number, layers):
        chosen = "Q6_K"
    elif file_type == "Q4_K_S" and number < 4:
        chosen = "Q5_K"
    elif file_type == "Q3_K_M":
        chosen = "Q5_K" if number < 2 else "Q4_K"
    chosen = chosen or {"IQ3_M": "Q4_K", "Q3_K_L": "Q5_K", "IQ3_XXS": "IQ3_S"}.get(file_type, "")
    if layers == 80 and (chosen or _ENDS.sub("", file_type)) in ("Q3_K", "Q4_K"):
        return "Q5_K"  # eight heads share these: they are small, and matter
    return chosen


def _of_down(layer: int, layers: int, file_type: str) -> str:
    early = layer < layers // 8
    if file_type in ("Q4_K_M", "Q5_K_M") and more_bits(layer, layers):
        return "Q6_K"
    if file_type == "Q3_K_M":
        return "Q5_K" if layer < layers // 16 else "Q4_K"
    if file_type == "IQ3_M":
        return "Q4_K" if early else ""
    if early:
        types = {"Q4_K_S": "Q5_K", "IQ4_XS": "Q5_K", "IQ4_NL": "Q5_K", "Q2_K_S": "Q4_K", "IQ3_XXS": "Q4_K"}
        if file_type in types:
            return types[file_type]
    return {"Q2_K": "Q3_K", "Q3_K_L": "Q5_K", "IQ3_XXS": "Q3_K"}.get(file_type, "")
