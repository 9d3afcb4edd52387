"""The command that started a program, as the text shows it, with the option that a way asks for."""

import shlex

from msgspec import structs

from rigup.diagnosis.guard.setting import Setting
from rigup.diagnosis.guard.start_commands import ENGINES, image_at, words_typed
from rigup.knowledge.patterns import lazy_regex
from rigup.steps import Step

_OPTION = lazy_regex(r"--?[a-z][\w-]*(?:[= ][\w.,/:-]+)?(?: --[a-z][\w-]*(?:[= ][\w.,/:-]+)?)*")
_VARIABLE = lazy_regex(r"[A-Z][A-Z0-9_]*=\S*")
_SAME = (("-c", "--ctx-size"), ("-ngl", "--gpu-layers", "--n-gpu-layers"), ("-tp", "--tensor-parallel-size", "--tp-size", "--tp"))
"""Names of one option: llama.cpp's tools/server/README.md, vLLM's and SGLang's lists of arguments."""


def in_the_programs_command(steps: list[Step], setting: Setting) -> list[Step]:
    """Options of a program within the command that was typed to start it; in words, where none was, or several that differ."""
    return [_asked_for(step, setting) if step.kind == "program-option" and not step.commands else step for step in steps]


def _asked_for(step: Step, setting: Setting) -> Step:
    option = step.params["option"]
    typed = {words for line in setting.runs if (words := words_typed(line))}
    typed |= {words for line in setting.starts if _is_the_images_own(words := words_typed(line))}
    if len(typed) != 1 or not _OPTION.fullmatch(option):
        return step
    words = typed.pop()
    begin = image_at(words) + 1 if _is_the_images_own(words) else 0
    command = (*words[:begin], *_without(words[begin:], option), *shlex.split(option))
    return structs.replace(step, commands=(("env", *command) if _VARIABLE.fullmatch(command[0]) else command,))


def _is_the_images_own(words: tuple[str, ...]) -> bool:
    """Whether a container's command hands options to the program that its image starts, and can be typed again: a name is taken, and another program takes others."""
    at = image_at(words) if words[:1] and words[0] in ENGINES else -1
    before = {word.partition("=")[0] for word in words[:at]}
    named = "--entrypoint" in before or ("--name" in before and "--rm" not in before)
    return 0 < at < len(words) - 1 and words[at + 1].startswith("-") and not named


def _without(words: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The words without earlier values of the same options, whatever names they have."""
    takes: dict[str, int] = {}
    for word in shlex.split(option):
        if word.startswith("-"):
            takes[word.partition("=")[0]] = int("=" in word)
        elif takes:
            takes[[*takes][-1]] += 1
    takes |= {other: takes[name] for names in _SAME for name in names if name in takes for other in names}
    kept: list[str] = []
    gone = 0  # words that follow an option which goes
    for word in words:
        name, given = word.partition("=")[::2]
        name = name.replace("_", "-") if name.startswith("--") else name  # vLLM takes both
        if name in takes:
            gone = takes[name] - bool(given)
        elif gone > 0:
            gone -= 1
        else:
            kept.append(word)
    return tuple(kept)
