"""Labels of a series in Prometheus' text format."""

import functools


@functools.lru_cache(maxsize=8192)
def labelled(names: tuple[str, ...], *words: str) -> str:
    """Labels as the format writes them: a word for each name."""
    return "{" + ",".join(f'{name}="{_escaped(word)}"' for name, word in zip(names, words, strict=True)) + "}"


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
