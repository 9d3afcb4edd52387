"""Models as transformers keeps them: the shape in config.json, of which a GGUF file would be made."""

import json
from typing import Any

from rigup.fit.errors import FitError, HeaderError
from rigup.knowledge.model_shapes import Shape
from rigup.language import _

_MOST_BYTES = 4 << 20
_MOST_NUMBER = 1 << 32
_MOST_LAYERS = 2048
_ARCHITECTURES = {
    "llama": "llama",
    "mistral": "llama",
    "mixtral": "llama",
    "qwen2": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3": "gemma3",
    "gemma3_text": "gemma3",
    "phi3": "phi3",
    "gpt_oss": "gpt-oss",
    "cohere": "command-r",
    "cohere2": "cohere2",
    "deepseek_v2": "deepseek2",
    "deepseek_v3": "deepseek2",
    "smollm3": "smollm3",
    "olmo2": "olmo2",
    "granite": "granite",
    "kimi_k2": "deepseek2",
}
_TIED_UNSAID = ("gemma", "gemma2", "gemma3", "gemma3_text", "cohere", "cohere2")
_TYPES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32"}


def shape_of(text: bytes, name: str) -> tuple[Shape, str]:
    """The shape of a config.json, and the type of its weights.

    Raises:
        FitError: it is none, or of a kind that is not known here.

    """
    try:
        config = json.loads(text) if len(text) <= _MOST_BYTES else None
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise HeaderError(_("{name} is no configuration: it holds something else than data.").format(name=name[:200]))
    inner = config.get("text_config")
    whole = {**config, **inner} if isinstance(inner, dict) else config
    kind = str(whole.get("model_type", ""))
    if kind not in _ARCHITECTURES:
        template = _("{name} is of the kind {kind}, which is not known here. Known are: {kinds}.")
        raise FitError(template.format(name=name[:200], kind=kind[:60] or "?", kinds=", ".join(sorted(_ARCHITECTURES))))
    dtype = str(whole.get("torch_dtype") or whole.get("dtype") or config.get("torch_dtype") or "bfloat16")
    return _shape(whole, kind, name), _TYPES.get(dtype, "BF16")


def _number(config: dict[str, Any], *names: str, default: int | None = None, most: int = _MOST_NUMBER) -> int:
    """A whole number under the first of some names. Raises HeaderError where there is none, or one that no model has."""
    for name in names:
        value = config.get(name)
        if value is None:
            continue
        if type(value) is not int or not 0 <= value <= most:
            raise HeaderError(_("The configuration says {key} = {value}, which no model has.").format(key=name, value=str(value)[:60]))
        return value
    if default is None:
        raise HeaderError(_("The configuration does not tell {key}.").format(key=names[0]))
    return default


def _shape(config: dict[str, Any], kind: str, name: str) -> Shape:
    width, heads = _number(config, "hidden_size"), _number(config, "num_attention_heads")
    if not width or not heads:
        raise HeaderError(_("The configuration does not tell {key}.").format(key="hidden_size"))
    experts = _number(config, "num_local_experts", "num_experts", "n_routed_experts", default=0, most=1 << 16)
    latent = kind in ("deepseek_v2", "deepseek_v3", "kimi_k2")
    window = _number(config, "sliding_window", default=0) if kind in ("gemma2", "gemma3", "gemma3_text", "gpt_oss", "cohere2") else 0
    return Shape(
        name=name,
        architecture=_ARCHITECTURES[kind],
        size="",
        names=[],
        width=width,
        heads=heads,
        layers=_number(config, "num_hidden_layers", most=_MOST_LAYERS),
        shared=1 if latent else _number(config, "num_key_value_heads", default=heads),
        inner=_number(config, "intermediate_size", default=0),
        words=_number(config, "vocab_size"),
        length=_number(config, "head_dim", default=width // heads),
        context=_number(config, "max_position_embeddings", default=0),
        tied=bool(config.get("tie_word_embeddings", kind in _TIED_UNSAID)),
        window=window,
        experts=experts,
        used=_number(config, "num_experts_per_tok", default=0, most=1024) if experts else 0,
        narrow=_number(config, "moe_intermediate_size", "intermediate_size", default=0) if experts else 0,
        common=_number(config, "n_shared_experts", default=0, most=64) if latent else 0,
        dense=_number(config, "first_k_dense_replace", default=0, most=_MOST_LAYERS) if latent else 0,
        **(_latent(config) if latent else {}),
    )


def _latent(config: dict[str, Any]) -> dict[str, Any]:
    """What only compressed keys and values have (MLA)."""
    return {
        "asked": _number(config, "q_lora_rank", default=0),
        "rank": _number(config, "kv_lora_rank"),
        "turned": _number(config, "qk_rope_head_dim"),
        "plain": _number(config, "qk_nope_head_dim"),
        "value": _number(config, "v_head_dim"),
    }
