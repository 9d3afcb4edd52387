"""The libstdc++ that is found first is older than a package wants."""

from rigup.diagnosis.rule import Params, mends
from rigup.knowledge.libstdcxx import gcc_of


@mends("libstdcxx-too-old")
def release_that_has_the_symbols(knew: Params) -> Params:
    """conda numbers the library by GCC: a bound, where the table has one, so that an old copy does not satisfy it."""
    gcc = gcc_of(str(knew.get("want") or ""))
    return {"exact": f"{knew.get('conda')}>={gcc}", "conda": None} if gcc and knew.get("conda") else {}
