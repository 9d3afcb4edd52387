"""Speeds of PCI Express by its generations (PCI-SIG, base specification)."""

_DENSE = 3  # the generation from which a link codes 128 bits in 130
_TRANSFERS = (0.0, 2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9)  # a second of one lane


def transfers_of(generation: int | None) -> float | None:
    """Transfers a second of a lane; None for a generation that is not known."""
    return _TRANSFERS[generation] if generation is not None and 0 < generation < len(_TRANSFERS) else None


def bytes_of(generation: int, lanes: int) -> float:
    """Bytes a second that a link carries one way, of ten bits eight, from the third generation on of 130 bits 128; 0 where it is not known."""
    share = 0.8 if generation < _DENSE else 128 / 130
    return (transfers_of(generation) or 0.0) * share * lanes / 8


def speed_words(transfers: float) -> str:
    """As lspci writes it: 16 GT/s."""
    return f"{transfers / 1e9:g} GT/s"


def generation_of(giga: float) -> int | None:
    """The generation of a link by its speed, as lspci tells it in GT/s."""
    return next((number for number, speed in enumerate(_TRANSFERS) if number and speed == giga * 1e9), None)
