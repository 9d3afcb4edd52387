"""This torch has no such operation for MPS."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("mps-op-not-implemented")
def where_the_variable_is_set(notebook: Symptom | None = seen("notebook-cell-shown", "jupyter-named")) -> Params:
    """A notebook's kernel has its own environment: what a shell exports later never reaches it."""
    return {"cell": "1" if notebook is not None else None, "shell": None if notebook is not None else "1"}
