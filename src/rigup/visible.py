r"""Foreign text made fit to be shown: what a terminal, a page or a reader's eye would obey is written out instead.

Reports, hosts, trees, programs and errors bring text that nobody has checked. A control character in it moves the
cursor, writes the clipboard or turns letters round. `visible` is the one step that all output passes: it writes such a
character as `\u001b`, which is plain text everywhere and, inside a string of JSON, still the same character.
Styles of our own are told from foreign ones by a number that is drawn anew in every process.
"""

import os

from rigup.knowledge.patterns import lazy_regex

# Controls but tab and line feed, soft and zero-width blanks, marks of direction, separators of lines and paragraphs,
# invisible operators, halves of pairs, tags. The joiners of emoji and of Indic and Arabic scripts stay.
UNFIT = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_OURS = str(int.from_bytes(os.urandom(6)) + 10**15)  # of 16 digits
_UNFIT = lazy_regex(rf"\x1b\[(?P<mark>[0-9]{{16}});(?P<style>[0-9;]{{1,20}}m)|[{UNFIT}]")


def visible(text: str) -> str:
    """The text with every such character written out; styles of our own stay. Idempotent."""
    return _UNFIT.sub(lambda found: found[0] if found["mark"] == _OURS else _escaped(found[0]), text)


def for_terminal(text: str) -> str:
    """The same, with our own styles as a terminal understands them: the last thing that is done to a text."""
    return _UNFIT.sub(lambda found: "\x1b[" + found["style"] if found["mark"] == _OURS else _escaped(found[0]), text)


def ours(styled: str) -> str:
    r"""Mark a sequence of styles, `\x1b[1m`, as our own."""
    return styled.replace("\x1b[", f"\x1b[{_OURS};")


def _escaped(found: str) -> str:
    """What was found with its first character written out: what follows it in a style that is not ours is plain."""
    return _written(found[0]) + found[1:]


def _written(letter: str) -> str:
    """As JSON writes it: beyond the basic plane as a pair."""
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
