"""The model cannot be shared by that number of GPUs."""

from rigup.diagnosis.rule import Params, mends


@mends("parallel-size-does-not-divide")
def size_that_divides(knew: Params) -> Params:
    """The largest below the one that was asked for."""
    heads, size = int(knew.get("heads") or 1), int(knew.get("size") or 1)
    return {"option": f"--tensor-parallel-size {next(count for count in range(size, 0, -1) if heads % count == 0)}"}
