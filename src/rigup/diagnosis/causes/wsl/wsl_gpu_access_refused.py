"""Windows refuses WSL access to the GPU: its driver, Windows and WSL do not go together."""

from rigup.diagnosis.causes.places import WSL
from rigup.diagnosis.causes.wsl.wsl_gpu_in_tcc_mode import may_be_in_tcc_mode
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Gpu, Platform, Symptom


@rule("wsl-gpu-access-refused", "likely")
def windows_side_refuses(
    _platform: Platform = one(wsl=WSL),
    error: Symptom = seen("wsl-access-blocked"),
    computing: Gpu | None = one(driver_model="TCC"),
    model: Symptom | None = seen("driver-model-tcc"),
) -> Verdict:
    """The driver's library is there and is turned away; where a card is shown to be in TCC mode, that is why."""
    return computing is None and model is None and {"said": error.id}


@text_rule("wsl-gpu-access-refused", "likely")
def windows_side_refuses_where_wsl_is_spoken_of(
    spoken: Symptom = seen(tag="wsl-spoken-of"),
    error: Symptom = seen("wsl-access-blocked"),
    platform: Platform | None = one(wsl=WSL),
    computing: Gpu | None = one(driver_model="TCC"),
    model: Symptom | None = seen("driver-model-tcc"),
) -> Verdict:
    """The same, told of a WSL that shows nothing of itself."""
    return platform is None and computing is None and model is None and {"said": error.id, "where": spoken.id}


@text_rule("wsl-gpu-access-refused", "possible")
def message_that_only_wsl_knows(
    error: Symptom = seen("wsl-access-blocked"),
    computing: Gpu | None = one(driver_model="TCC"),
    model: Symptom | None = seen("driver-model-tcc"),
) -> Verdict:
    """NVIDIA's library says so where it goes through Windows, and nowhere else."""
    return computing is None and model is None and {"said": error.id}


@mends("wsl-gpu-access-refused")
def who_is_turned_away(
    inside: Symptom | None = seen("wsl-access-blocked", at="container"), card: Gpu | None = one(vendor="nvidia")
) -> Params:
    """In a container it is mostly an engine that does not bring all of the driver's libraries; of a GeForce TCC is no question."""
    return {"contained": "container" if inside is not None else None, "model": "TCC" if card is None or may_be_in_tcc_mode(card) else None}
