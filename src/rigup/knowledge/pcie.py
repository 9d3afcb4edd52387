"""Speeds of PCI Express by its generations (PCI-SIG, base specification)."""

_TRANSFERS = (0.0, 2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9)  # a second of one lane


def transfers_of(generation: int | None) -> float | None:
    """Transfers a second of a lane; None for a generation that is not known."""
    return _TRANSFERS[generation] if generation is not None and 0 < generation < len(_TRANSFERS) else None


def speed_words(transfers: float) -> str:
    """As lspci writes it: 16 GT/s."""
    return f"{transfers / 1e9:g} GT/s"


def generation_of(giga: float) -> int | None:
    """The generation of a link by its speed, as lspci tells it in GT/s."""
    return next((number for number, speed in enumerate(_TRANSFERS) if number and speed == giga * 1e9), None)
