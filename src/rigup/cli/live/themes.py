"""Colours by role. None tells anything that a mark, a word or a number does not tell as well.

The hues are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which people tell apart however they see colours;
"terminal" takes the terminal's own sixteen instead, blue and yellow before red and green, "plain" none.
"""

from collections.abc import Mapping

_ROLES = ("", "dim", "strong", "title", "head", "chosen", "key", "use", "memory", "power", "heat", "warn", "bad", "note")


def _theme(*styles: str) -> dict[str, str]:
    return dict(zip(_ROLES, styles, strict=True))


# Styles as rich writes them: "bold #e69f00 on black".
THEMES: Mapping[str, dict[str, str]] = {
    "terminal": _theme(
        "",
        "bright_black",
        "bold",
        "reverse bold",
        "bold underline",
        "reverse",
        "bold blue",
        "blue",
        "cyan",
        "yellow",
        "magenta",
        "bold yellow",
        "bold red",
        "cyan",
    ),
    "dark": _theme(
        "#d8d8d8 on #101418",
        "#8a9199 on #101418",
        "bold #ffffff on #101418",
        "bold #101418 on #56b4e9",
        "bold underline #d8d8d8 on #101418",
        "#101418 on #f0e442",
        "bold #56b4e9 on #101418",
        "#56b4e9 on #101418",
        "#009e73 on #101418",
        "#f0e442 on #101418",
        "#cc79a7 on #101418",
        "bold #e69f00 on #101418",
        "bold #ff8a5c on #101418",
        "#56b4e9 on #101418",
    ),
    "light": _theme(
        "#202020 on #ffffff",
        "#5c6066 on #ffffff",
        "bold #000000 on #ffffff",
        "bold #ffffff on #0072b2",
        "bold underline #202020 on #ffffff",
        "#ffffff on #0072b2",
        "bold #0072b2 on #ffffff",
        "#0072b2 on #ffffff",
        "#007a59 on #ffffff",
        "#8a6d00 on #ffffff",
        "#a03c77 on #ffffff",
        "bold #9a5b00 on #ffffff",
        "bold #b33c00 on #ffffff",
        "#0072b2 on #ffffff",
    ),
    "contrast": _theme(
        "bright_white on black",
        "white on black",
        "bold bright_white on black",
        "bold black on bright_white",
        "bold underline bright_white on black",
        "bold black on bright_yellow",
        "bold bright_yellow on black",
        "bright_cyan on black",
        "bright_white on black",
        "bright_yellow on black",
        "bright_magenta on black",
        "bold black on bright_yellow",
        "bold bright_white on red",
        "bright_cyan on black",
    ),
    "plain": _theme("", "", "bold", "reverse bold", "bold underline", "reverse", "bold", "", "", "", "", "bold", "bold reverse", ""),
}
_CODES = {"bold": "1", "underline": "4", "reverse": "7"}
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_BRIGHT = {f"bright_{name}": number + 90 for number, name in enumerate(_NAMES)}
_PLAIN = {name: number + 30 for number, name in enumerate(_NAMES)}


def theme_of(environ: Mapping[str, str], wanted: str = "") -> str:
    """The theme to begin with: as asked, none where NO_COLOR is set (https://no-color.org), else the terminal's own."""
    if wanted in THEMES:
        return wanted
    return "plain" if environ.get("NO_COLOR") else "terminal"


def escapes(style: str) -> str:
    """The numbers between `ESC [` and `m` for a style; of the sixteen colours only, others are the terminal's own."""
    codes, background = [], 0
    for word in style.split():
        if word == "on":
            background = 10
        elif word in _CODES:
            codes.append(_CODES[word])
        elif word in _PLAIN or word in _BRIGHT:
            codes.append(str((_PLAIN | _BRIGHT)[word] + background))
        elif word.startswith("#"):
            red, green, blue = (int(word[at : at + 2], 16) for at in (1, 3, 5))
            codes.append(f"{38 + background};2;{red};{green};{blue}")
    return ";".join(codes)
