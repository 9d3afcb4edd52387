"""Numbers run over in float16, and the results are not-a-number."""

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen
from rigup.knowledge.abilities import lacking
from rigup.knowledge.float16_faults import is_wrong_in_float16
from rigup.machine.kinds import Gpu, Symptom

_VAE, _ALL, _SAMPLING = "--no-half-vae", "--no-half", "--upcast-sampling"  # of AUTOMATIC1111's WebUI
_SETTING = "Upcast cross attention layer to float32"  # as its settings call it


@mends("nan-under-float16")
def options_of_the_webui(
    said: Symptom = seen("image-of-nans"),
    vae_set: Symptom | None = seen("webui-keeps-the-vae-in-float32"),
    all_set: Symptom | None = seen("webui-keeps-all-in-float32"),
    xl: Symptom | None = seen("pictures-by-sdxl"),
) -> Params:
    """Least first: the part that the message names, then all of it; what is set already is not offered again."""
    of_vae = said.part == "VAE"
    if all_set is not None:
        return {"part": said.part}
    return {
        "part": said.part,
        "vae": _VAE if of_vae and vae_set is None else None,
        "option": None if of_vae and vae_set is None else _ALL,
        "setting": None if of_vae else _SETTING,
        "other": "madebyollin/sdxl-vae-fp16-fix" if of_vae and xl is not None else None,
    }


@mends("nan-under-float16")
def card_that_is_wrong_in_float16(knew: Params, gpu: Gpu = one(vendor="nvidia")) -> Params:
    """On some cards everything has to be computed in float32, whatever the model."""
    if not (gpu.knows("name") and is_wrong_in_float16(str(gpu.vendor), str(gpu.get("isa")), str(gpu.name))):
        return {}
    return {"card": gpu.name} | ({"setting": None, "lighter": _SAMPLING} if knew.get("option") else {})


@mends("nan-under-float16")
def option_of_comfyui(_said: Symptom = seen("image-cast-invalid")) -> Params:
    """ComfyUI chooses the model's type by the card; the VAE is kept in float32 by an option."""
    return {"part": "VAE", "vae": "--fp32-vae"}


@mends("nan-under-float16")
def type_that_the_training_is_told(
    _nan: Symptom = seen("trainer-gradient-is-nan"), asked: Symptom = seen("float16-asked-for"), gpus: Every[Gpu] = every(Gpu)
) -> Params:
    """bfloat16 has the range of float32; where no card is known to compute it, or one is known not to, float32 is left."""
    known = [gpu for gpu in gpus if gpu.knows("isa") and gpu.knows("vendor")]
    lacks = any(row.id == "bfloat16" for gpu in known for row in lacking(str(gpu.vendor), str(gpu.isa)))
    half = str(asked.half)
    return {"half": half, "wide": _in_bfloat16(half) if known and not lacks else None, "single": half if lacks else None}


def _in_bfloat16(half: str) -> str:
    """The same words for bfloat16: the Trainer's, Accelerate's, or Lightning's, which puts a bare number in quotes."""
    if "fp16" in half:
        return half.replace("fp16", "bf16")
    kind = half.partition("=")[2].strip("\"'").partition("-")[2]
    return f'precision="bf16-{kind or "mixed"}"'
