"""Another framework in the same process has reserved most of the GPU's memory beforehand."""

from rigup.diagnosis.causes.hardware.memory_figures import Figures
from rigup.diagnosis.causes.memory_sizes import GIB
from rigup.diagnosis.rule import Params, Verdict, mends, seen, text_rule
from rigup.machine.kinds import Symptom

_SHARE = 0.3  # of the card: more than contexts and libraries ever take
_RESERVE = {"jax": "JAX", "tensorflow": "TensorFlow"}


@text_rule("framework-reserves-memory", "likely")
def process_holds_far_more_than_torch(
    symptom: Symptom = seen(tag="torch-out-of-memory"), other: Symptom = seen("framework-is-imported", framework=tuple(_RESERVE))
) -> Verdict:
    """torch's own figures: what its process holds beside what torch has allocated and reserved."""
    figures = Figures(symptom)
    beside = (figures.mine or 0) - (figures.allocated or 0) - (figures.slack or 0)
    much = figures.told and beside > max(_SHARE * (figures.total or 0), (figures.wanted or 0))
    return much and {"framework": _RESERVE[other.framework], "held": f"{beside / GIB:.1f} GiB"}


@mends("framework-reserves-memory")
def how_it_takes_what_it_needs(knew: Params) -> Params:
    """Both take memory as they need it where they are told before they start."""
    jax = {"variable": "XLA_PYTHON_CLIENT_PREALLOCATE", "value": "false"}
    return jax if knew.get("framework") == "JAX" else {"variable": "TF_FORCE_GPU_ALLOW_GROWTH", "value": "true"}
