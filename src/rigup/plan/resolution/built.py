"""Exact releases of what is built where it is installed: no resolver can ask such a package what it needs beforehand."""

from collections.abc import Callable

import msgspec
from packaging.requirements import Requirement

from rigup.plan.packages import name_of
from rigup.plan.resolution.by_uv import Answered
from rigup.plan.resolution.question import Question
from rigup.stack.choice import Choice
from rigup.stack.frameworks.addons import build_of
from rigup.stack.resolution import Resolved

Ask = Callable[[Question], Answered]


def releases(choice: Choice, query: Question, ask: Ask) -> Answered:
    """The release of each package of a choice that is built where it is installed.

    One whose makers keep wheels for the chosen build is of the release that lies there, and another one of the newest
    that the index has for the Python; what the index has not is refused. What comes from a repository, or of which
    nobody could be asked, is left out.

    Args:
        choice: the choice.
        query: its question, without places at which nobody answers.
        ask: puts a question to the resolver.

    Raises:
        KnowledgeError: a table is malformed.

    """
    words = {name_of(word): word for word in query.built if "://" not in word}
    folders = {name for judged in choice.chosen for name in judged.build.folders}
    prebuilt = tuple(package for name, word in words.items() if name in folders for package in _in_folder(name, word))
    free = {name: word for name, word in words.items() if name not in folders}
    answer = _of_index(query, free, ask)
    return answer._replace(packages=(*prebuilt, *answer.packages))


def _in_folder(name: str, word: str) -> list[Resolved]:
    row = build_of(name)
    fits = row and row.folder_release and Requirement(word).specifier.contains(row.folder_release)
    return [Resolved(name=name, version=row.folder_release)] if row and fits else []


def _of_index(query: Question, words: dict[str, str], ask: Ask) -> Answered:
    if not words:
        return Answered()
    question = msgspec.structs.replace(
        query, wanted=tuple(words.values()), opaque=tuple(words), sources=tuple(words), bound={}, further=(), bounds=()
    )
    answer = ask(question)
    packages = (msgspec.structs.replace(package, built=True) for package in answer.packages if package.name in words)
    return answer._replace(packages=tuple(packages))
