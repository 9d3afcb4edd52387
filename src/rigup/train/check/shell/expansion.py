"""What a shell makes of `${NAME…}`, of arrays and of positional parameters."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from rigup.train.check.shell.words import UNKNOWN, Word

_SET_BY_OTHERS = re.compile(
    r"SLURM|S?BATCH|SRUN|PMI|OMPI|CUDA|HIP_|ROCR|HOME$|USER$|PWD$|HOSTNAME$|PATH$|TMP|CONDA|VIRTUAL_ENV|MASTER_|RANK$|LOCAL_RANK$|NODE_RANK$|WORLD_SIZE$"
)
_MOST_PARAMETERS = 200
_LIST = re.compile(r"\$\{?(?P<name>\w+|[@*])(?:\[[@*]\])?(?::(?P<start>\d{1,3}))?\}?")


def expanded(value: str, text: str, name: str, unset: bool = False) -> str:
    """`${NAME:-default}` and what else a shell does to a value; UNKNOWN for what is not followed here.

    Args:
        value: of the variable.
        text: the expansion as it is written.
        name: of the variable.
        unset: nothing that is seen sets it, so that a default stands.

    """
    inner = text[2:-1] if text.startswith("${") else ""
    rest = inner.removeprefix(name)
    if not inner or not rest or rest.startswith("["):
        if rest.startswith("[") and not re.fullmatch(r"\[[@*]\]", rest):
            return value.split(" ", maxsplit=1)[0] if rest == "[0]" and UNKNOWN not in value else UNKNOWN
        return value
    if match := re.fullmatch(r":?[-=](.*)", rest, re.DOTALL):
        if value == UNKNOWN and (not unset or _SET_BY_OTHERS.match(name)):
            return UNKNOWN
        value = "" if value == UNKNOWN else value
        return value or match[1].strip("\"'") if "$" not in match[1] else (value or UNKNOWN)
    if match := re.fullmatch(r"(%%?|##?)(.{1,40})", rest):
        return _trimmed(value, match[1], match[2])
    return UNKNOWN


def _trimmed(value: str, how: str, pattern: str) -> str:
    """`%.py` and `#prefix` with a pattern without wildcards; of others nothing is known."""
    if UNKNOWN in value or re.search(r"[*?\[$]", pattern):
        return UNKNOWN
    return value.removesuffix(pattern) if how[0] == "%" else value.removeprefix(pattern)


def split(word: Word, variables: Mapping[str, Word]) -> Iterator[Word]:
    """The words that a word becomes: a list as many as it has, a bare variable as many as its value has."""
    bare = word.raw.startswith("$") and not word.quoted
    match = _LIST.fullmatch(word.raw.strip('"'))
    held = variables.get(match["name"]) if match else None
    if match and held is not None and held.parts is not None and (bare or "@" in word.raw):
        first = int(match["start"] or 0) - (match["name"] in "@*" and match["start"] is not None)
        for part in held.parts[max(first, 0) :]:
            if not bare:
                yield msgspec.structs.replace(word, text=part)
            else:
                yield from (msgspec.structs.replace(word, text=each) for each in part.split())
    elif bare and " " in word.text.strip():
        yield from (msgspec.structs.replace(word, text=part) for part in word.text.split())
    elif not (bare and word.text == ""):
        yield word


def parameters(words: Sequence[Word], line: int) -> dict[str, Word]:
    """`$1`, `$2` …, `$@`, `$*` and `$#` of a call."""
    texts = tuple(word.text for word in words[:_MOST_PARAMETERS])
    refs = frozenset[str]().union(*(word.refs for word in words))
    every = Word(text=" ".join(texts), raw="$@", line=line, refs=refs, parts=texts)
    count = UNKNOWN if any(UNKNOWN in text for text in texts) else str(len(texts))
    named = {str(at): msgspec.structs.replace(word, parts=None) for at, word in enumerate(words[:_MOST_PARAMETERS], 1)}
    return {**named, "@": every, "*": every, "#": Word(text=count, raw="$#", line=line)}


def is_parameter(name: str) -> bool:
    """Whether a variable is a positional parameter."""
    return name.isdigit() or name in ("@", "*", "#")
