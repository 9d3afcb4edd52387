"""A file of the model is not whole, or is something else."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("file-not-whole")
def file_that_is_to_come_again(
    knew: Params, shown: Symptom | None = seen("pointer-of-git-lfs-shown", "weights-of-a-pointers-size")
) -> Params:
    """All but a pointer of Git LFS, which is fetched: such a file is a text of some 130 bytes."""
    pointer = knew.get("pointer") or ("git-lfs" if shown is not None else None)
    return {"pointer": pointer, "file": None if pointer else "file"}
