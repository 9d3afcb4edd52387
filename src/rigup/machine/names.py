"""Names of cards as tools write them, compared as a person would."""

import functools
import re

from rigup.knowledge.patterns import lazy_regex

_MAKERS = frozenset(
    (
        "nvidia",
        "geforce",
        "amd",
        "ati",
        "radeon",
        "instinct",
        "graphics",
        "intel",
        "corporation",
        "inc",
        "gpu",
        "advanced",
        "micro",
        "devices",
        "tesla",
        "quadro",
        "tm",
        "r",
        "apple",
        "device",
    )
)
# Words that make another model of a number: without them "RTX 3090" would be its own "Ti".
_MODELS = frozenset(("ti", "super", "xt", "xtx", "xl", "gre", "max", "pro", "ultra", "d", "m", "se", "le", "ada", "blackwell", "s"))
CUT = "..."  # how nvidia-smi ends a name that its table has no room for
_MARKS = lazy_regex(r"\((?:r|tm|c)\)", re.IGNORECASE)
_WORDS = lazy_regex(r"[a-z0-9]+")
_REMARK = lazy_regex(r" \((?![^)]{0,40}(?:laptop|mobile|max-q))[^)]{3,80}\)\Z", re.IGNORECASE)  # which processors have it, how much memory
_MOBILE = lazy_regex(r"\b(?:max-q ?/ ?mobile|mobile ?/ ?max-q|max-q|mobile)\b")  # what the maker calls a laptop's


@functools.lru_cache(4096)
def words(name: str) -> tuple[frozenset[str], ...]:
    """The words that tell a model, once for each name that the text offers.

    Makers, marks and a remark behind the name are left out; of "Navi 31 [Radeon RX 7900 XT/7900 XTX]" the names in brackets count.
    """
    inner = re.search(r"\[([^\]]+)\]", name)
    plain = _MOBILE.sub("laptop", _REMARK.sub("", _MARKS.sub(" ", inner[1] if inner else name)).lower())
    return tuple(frozenset(_WORDS.findall(part)) - _MAKERS for part in re.split(r" ?/ ?", plain))


def same_name(name: str, other: str) -> bool:
    """Whether two spellings may name one model: one's words hold all of the other's, and no suffix more.

    A table that is too narrow cuts a name and ends it with dots: what is left must begin the other.
    """
    for cut, whole in ((name, other), (other, name)):
        if cut.endswith(CUT):
            return _plain(whole).startswith(_plain(cut))
    return any(_same(mine, theirs) for mine in words(name) for theirs in words(other))


def _plain(name: str) -> str:
    """A name's letters and digits without its maker's."""
    text = _MARKS.sub(" ", name.removesuffix(CUT)).lower().removeprefix("nvidia ")
    return "".join(_WORDS.findall(text))


def _same(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return (mine <= theirs or theirs <= mine) and not (mine ^ theirs) & _MODELS
