"""Types of weights: how many lie in a block, and how many bytes it takes; types of files as mixtures of them."""

import msgspec

from rigup.knowledge import tables


class Block(msgspec.Struct, frozen=True):
    """A type of tensors: its number in files, and what a block of it holds."""

    number: int
    name: str
    weights: int
    bytes: int

    @property
    def bits(self) -> float:
        """Bits that one weight takes."""
        return 8 * self.bytes / self.weights


@tables.remembered
def _blocks() -> dict[int, Block]:
    return {row.number: row for row in tables.rows("gguf_types", "type", Block)}


def block(number: int) -> Block | None:
    """The type of a tensor by its number in files; None for a number that nobody gave."""
    return _blocks().get(number)


@tables.remembered
def block_named(name: str) -> Block:
    """The type of a tensor, or of a cache, by its name.

    Raises:
        LookupError: there is none of that name.

    """
    found = next((row for row in _blocks().values() if row.name.lower() == name.lower()), None)
    if found is None:
        raise LookupError(name)
    return found


def cache_bytes(name: str, count: int) -> int:
    """What so many numbers of a cache take."""
    row = block_named(name)
    return count * row.bytes // row.weights
