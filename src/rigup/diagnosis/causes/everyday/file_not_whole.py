"""A file of the model is not whole, or is something else."""

from rigup.diagnosis.rule import Params, mends


@mends("file-not-whole")
def file_that_is_to_come_again(knew: Params) -> Params:
    """All but a pointer of Git LFS, which is fetched."""
    return {"file": None if knew.get("pointer") else "file"}
