"""The program asks for a newer torch than is installed."""

from rigup.diagnosis.rule import Params, mends


@mends("torch-older-than-wanted")
def torch_that_is_wanted(knew: Params) -> Params:
    """The least that the program asks for."""
    return {"wish": f"torch>={knew.get('least') or knew.get('least2')}"}
