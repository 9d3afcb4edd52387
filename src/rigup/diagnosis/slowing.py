"""What slows a card down, in words and for the steps that mend it: of the doctor's one look and of a watch alike."""

from collections.abc import Collection

from rigup.language import N_, _

_HARMFUL = {
    "temperature": N_("heat"),
    "current": N_("the current that it draws"),
    "hardware": N_("the card itself, against heat or for want of power"),
    "external": N_("the board or the power supply"),
    "reliability": N_("the voltage that it can have"),
    "other": N_("a reason that it does not name"),
}
_OF_SUPPLY = {"external", "hardware", "current"}


def harmful(reasons: Collection[str]) -> list[str]:
    """Those that a sound card does not have: at its power limit every card arrives that works."""
    return [reason for reason in reasons if reason in _HARMFUL]


def slowed_words(reasons: Collection[str], vendor: str | None, address: str | None) -> dict[str, str | None]:
    """What the cause `throttled` and its steps ask for; None leaves a hole empty."""
    named = [reason for reason in reasons if reason != "hardware"] or list(reasons)  # the others tell why
    is_hot, by_nvidia = not {"temperature", "hardware"}.isdisjoint(named), vendor == "nvidia"
    return {
        "reasons": ", ".join(_(_HARMFUL[reason]) for reason in named),
        "heat": "fans" if is_hot and by_nvidia else None,
        "hot": address if is_hot and not by_nvidia else None,
        "brake": None if _OF_SUPPLY.isdisjoint(named) else "supply",
    }
