"""A choice with what a resolver makes of it.

The chosen builds are pinned, each is bound to its index, and everything else is found for them: once, for the Python
and the platform that the plan is for. Where the set cannot be had with the release that was chosen, and the wish leaves
it open, the resolver says which release the rest wants, and the tables choose the build of that.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge.torch_builds import companions
from rigup.language import _
from rigup.plan.environments.lock_fields import LockError
from rigup.plan.environments.places import silent
from rigup.plan.environments.resolver import Resolver, found_uv, resolver_for, version_of
from rigup.plan.packages import name_of
from rigup.plan.resolution import built, by_pip, by_uv
from rigup.plan.resolution.by_uv import Answered
from rigup.plan.resolution.other_python import with_wheels
from rigup.plan.resolution.previews import unasked_previews
from rigup.plan.resolution.question import Question, question
from rigup.plan.resolution.sizes import weighed
from rigup.plan.resolution.stand_ins import stand_in
from rigup.plan.resolution.staying import kept_whole
from rigup.plan.term_files import not_by_hash
from rigup.stack.choice import Choice
from rigup.stack.choose import choose
from rigup.stack.frameworks.torch import FAMILY
from rigup.stack.resolution import Resolution, Resolved
from rigup.stack.weigh import served_count

OFF = "RIGUP_NO_RESOLVE"
"""The variable that keeps plans from asking an index."""
_SECONDS = 180.0  # that one answer may take: a busy machine or a slow link is no reason to install unresolved
_NO_WHEEL = ("no usable wheels", "Building source distributions is disabled", "No matching distribution", "no wheels")
_LAST_PATCH = ".99"  # of a Python of which the minor release alone is known: packages ask for a lowest patch, never for a highest


class Asker(NamedTuple):
    """Who is asked.

    `python` is the exact version of the interpreter, "" where none is at hand; `builds`: what has no wheel may be built.
    """

    kind: Literal["uv", "pip"]
    program: str
    by: str
    python: str = ""
    pip: Resolver | None = None
    builds: bool = True


def resolved(choice: Choice, *, here: bool, variables: Mapping[str, str] | None = None) -> Choice:
    """The choice with its resolution, as far as one can be had now.

    Args:
        choice: one that is possible; it comes back as it is where the person wants no index to be asked.
        here: it is for this machine, whose own pip may be asked.
        variables: the person's; by default those of this process.

    Raises:
        KnowledgeError: a table is malformed.

    """
    environment = variables if variables is not None else os.environ
    if not choice.chosen or environment.get(OFF):
        return choice
    if because := _needless(choice):
        return _with(choice, Resolution(because=(because,)))
    asker = _asker(choice, here)
    if asker is None:
        return _with(choice, Resolution(because=(_nobody(),)))
    settled = _settled(choice, asker, environment)
    settled = kept_whole(settled, lambda again: _settled(again, asker, environment)) if here else settled
    return _with_the_rest(_with_wheels(settled, asker, environment), asker, environment)


def _with_the_rest(choice: Choice, asker: Asker, variables: Mapping[str, str]) -> Choice:
    """With what is built where it is installed, held against the hashes that a file gives, and with sizes."""
    if choice.resolution is None or not choice.resolution.packages:
        return choice
    from_source = _built(choice, asker, variables)
    if from_source.refused:
        return _with(choice, _as_resolution(from_source, asker))
    every = msgspec.structs.replace(choice.resolution, packages=(*choice.resolution.packages, *from_source.packages))
    if because := not_by_hash(choice.wish.terms, every):
        return _with(choice, msgspec.structs.replace(every, refused=because))
    return _with(choice, msgspec.structs.replace(every, packages=weighed(every.packages)))


def _with_wheels(choice: Choice, asker: Asker, variables: Mapping[str, str]) -> Choice:
    """With another Python, where that spares building what may not build; pip reads markers for its own Python alone."""
    if asker.kind != "uv" or choice.resolution is None:
        return choice
    plain = asker._replace(python="", builds=False)
    return with_wheels(choice, choice.resolution, lambda other: _ask(other, plain, variables)) or choice


def _built(choice: Choice, asker: Asker, variables: Mapping[str, str]) -> Answered:
    """Releases of what is built where it is installed, of the places that answer."""
    query = question(choice)
    left = _without(query, set(silent(query.indexes, variables)))
    return built.releases(choice, left, lambda part: _ask_once(asker, part, build=False))


def _with(choice: Choice, resolution: Resolution) -> Choice:
    return msgspec.structs.replace(choice, resolution=resolution)


def _needless(choice: Choice) -> str:
    """Why nobody is asked, as a sentence; "" where somebody is."""
    builds = [judged.build for judged in choice.chosen]
    if any(build.image for build in builds):
        return _("What is in the image decides what else comes; it is not looked into here.")
    if any(build.conda for build in builds):
        return _("conda resolves its packages itself when the steps are taken, and what pip adds depends on them.")
    if choice.python.endswith("t"):
        return _("Builds without the interpreter lock are resolved by the installer when the steps are taken.")
    if choice.site.network is False and not choice.site.sources.find_links:
        return _("Not resolved, for there is no network: versions that are not named here are not known.")
    return ""


def _nobody() -> str:
    return _("There is nobody to ask here: `pip install uv` brings a resolver, which works for other machines too.")


def _asker(choice: Choice, here: bool) -> Asker | None:
    """uv where it is, for it works for every platform and binds each package to its index; else this machine's pip."""
    python = _exact_python(choice) if here else ""
    if uv := found_uv():
        return Asker("uv", uv, version_of(uv, "--version"), python)
    if not here:
        return None
    try:
        pip = resolver_for(choice.python, _environment(choice), choice.site.interpreters.get(choice.python, ""))
    except LockError:
        return None
    return Asker("pip", pip.python, " ".join(version_of(*pip.argv, "--version").split()[:2]), python, pip)


def _environment(choice: Choice) -> Path | None:
    return Path(choice.site.environment) if choice.site.environment else None


def _exact_python(choice: Choice) -> str:
    """The patch release of the interpreter that the environment has or will be made with; "" if it is not at hand."""
    site = choice.site
    existing = [os.path.join(site.environment, "bin", "python")] if site.environment and site.python == choice.python else []
    for program in (*existing, site.interpreters.get(choice.python, "")):
        if program and os.path.exists(program):
            return version_of(program, "-c", "import platform; print(platform.python_version())")
    return ""


# -- asking ------------------------------------------------------------------------------------------


def _settled(choice: Choice, asker: Asker, variables: Mapping[str, str]) -> Choice:
    """Asked until nothing of torch's family comes from elsewhere than torch, and with another release where it must be."""
    resolution = _ask(choice, asker, variables)
    for _again in range(2):
        strays = _strays(choice, resolution)
        if not strays or (bound := _with_family(choice, strays)) is None:
            break
        choice, resolution = bound, _ask(bound, asker, variables)
    if resolution.refused and (other := _another_release(choice, asker, variables)) is not None:
        again = _ask(other, asker, variables)
        if not again.refused:
            return _with(other, again) if not _strays(other, again) else _settled(other, asker, variables)
    return _with(choice, resolution)


def _ask(choice: Choice, asker: Asker, variables: Mapping[str, str]) -> Resolution:
    """One question, without the indexes at which nobody answers."""
    query = question(choice)
    dead = set(silent(query.indexes, variables))
    if named := sorted(dead & choice.wish.terms.places):
        return Resolution(by=asker.by, refused=_not_without(named, choice))
    lost = {name: url for name, url in query.bound.items() if url in dead}
    left = _without(query, dead)
    answer = Answered(silent=", ".join(sorted(dead))) if query.index in dead else _put(asker, left)
    if answer.silent and (other := _ask_elsewhere(asker, left)).packages:
        return msgspec.structs.replace(_as_resolution(other, asker), without_default=True)
    if lost and answer.refused:
        return _around(asker, left, lost, choice)
    if answer.refused and (mute := [url for url in query.further if url in dead]):
        return Resolution(by=asker.by, because=(_unreachable(mute),))
    return _as_resolution(answer, asker)


def _unreachable(places: list[str]) -> str:
    """What nobody could be asked for is not refused."""
    template = _("Not resolved, for nobody answers at {places}, where a part of it lies.")
    return template.format(places=", ".join(places))


def _not_without(named: list[str], choice: Choice) -> str:
    """Elsewhere a package of the same name may be anybody's."""
    template = _("Nobody answers at {places}, which {files} name, and without them packages would come from elsewhere.")
    return template.format(places=", ".join(named), files=", ".join(choice.wish.terms.files))


def _ask_elsewhere(asker: Asker, query: Question) -> Answered:
    """Without the default index, where there are other places: a person behind a wall keeps their own."""
    if query.index or not (query.extra_indexes or query.find_links):
        return Answered()
    first, *rest = query.extra_indexes or ("",)
    return _ask_once(asker, msgspec.structs.replace(query, index=first, extra_indexes=tuple(rest), offline=not first), build=False)


def _without(query: Question, dead: set[str]) -> Question:
    return msgspec.structs.replace(
        query,
        bound={name: url for name, url in query.bound.items() if url not in dead},
        further=tuple(url for url in query.further if url not in dead),
        extra_indexes=tuple(url for url in query.extra_indexes if url not in dead),
    )


def _put(asker: Asker, query: Question) -> Answered:
    """The question to whoever is asked; what has no wheel is built where nothing else helps."""
    answer = _ask_once(asker, query, build=False)
    if query.sources and answer.refused:  # an old release may have a wheel alone, or a source cannot be asked
        answer = _ask_once(asker, msgspec.structs.replace(query, sources=()), build=False)
    answer = _released(asker, query, answer)
    if asker.builds and answer.refused and any(words in answer.refused for words in _NO_WHEEL):
        built = _ask_once(asker, query, build=True)
        return answer if built.refused else built
    return answer


def _released(asker: Asker, query: Question, answer: Answered) -> Answered:
    """With releases in place of previews that nobody asked for; of what has none, the wheel of its preview serves."""
    early = unasked_previews(query, answer.packages)
    while early:
        later = _ask_once(asker, msgspec.structs.replace(query, sources=(*query.sources, *early)), build=False)
        if not later.packages:
            break
        still = set(unasked_previews(query, later.packages))
        if not still & set(early):
            return later
        early = tuple(name for name in early if name not in still)
    return answer


def _ask_once(asker: Asker, query: Question, *, build: bool) -> Answered:
    try:
        if asker.pip is not None:
            return by_pip.ask(asker.pip, query, build=build, seconds=_SECONDS)
        python = asker.python or query.python + (_LAST_PATCH if query.python.count(".") == 1 else "")
        with tempfile.TemporaryDirectory(prefix="rigup-") as folder:
            return by_uv.ask(asker.program, query, Path(folder), python=python, build=build, seconds=_SECONDS)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, msgspec.DecodeError) as error:
        return Answered(silent=f"{asker.by}: {type(error).__name__}: {error}"[:300])


def _as_resolution(answer: Answered, asker: Asker) -> Resolution:
    if answer.silent:
        sentence = _("Not resolved, for no answer was had ({words}).").format(words=answer.silent[:300])
        return Resolution(by=asker.by, because=(sentence,))
    return Resolution(packages=answer.packages, by=asker.by, refused=answer.refused)


def _around(asker: Asker, query: Question, lost: dict[str, str], choice: Choice) -> Resolution:
    """The rest of a set whose builds lie where nobody answers: wheels with nothing in them stand for those."""
    pins = {name_of(name): version for name, version in choice.packages.items()}
    with tempfile.TemporaryDirectory(prefix="rigup-") as folder:
        stood = {name: pins[name] for name in lost if pins.get(name, "")[:1].isdigit()}
        for name, version in stood.items():
            stand_in(Path(folder), name, version)
        bound = query.bound if query.offline else {**query.bound, **dict.fromkeys(stood, folder)}
        bounds = (*query.bounds, *_triton(stood.get("torch", "")))
        answer = _put(asker, msgspec.structs.replace(query, bound=bound, bounds=bounds, find_links=(*query.find_links, folder)))
    if not answer.packages:
        return _as_resolution(answer, asker)
    packages = tuple(_unseen(package, lost[package.name]) if package.name in stood else package for package in answer.packages)
    template = _(
        "Nobody answers at {places}, so the files of {packages} and what they need were not asked for; their versions are the tables' word."
    )
    because = template.format(places=", ".join(sorted(set(lost.values()))), packages=", ".join(f"{name} {stood[name]}" for name in stood))
    return Resolution(packages=packages, by=asker.by, because=(because,))


def _triton(torch: str) -> tuple[str, ...]:
    """The release of Triton that a torch takes, where the tables know it: nothing else may bring another."""
    known = companions(torch) if torch else None
    release = known.triton if known and not known.extrapolated else ""
    return (f"triton{'==' if release[:1].isdigit() else ''}{release}",) if release else ()


def _unseen(package: Resolved, index: str) -> Resolved:
    return msgspec.structs.replace(package, index=index, url="", sha256="", size=0)


# -- torch's family, and other releases --------------------------------------------------------------


def _strays(choice: Choice, resolution: Resolution) -> list[str]:
    """What belongs to torch and came from elsewhere, though torch has an index of its own."""
    torch = next((judged.build for judged in choice.chosen if "torch" in judged.build.packages and judged.build.index), None)
    if torch is None:
        return []
    return [
        package.name
        for package in resolution.packages
        if package.name in FAMILY and package.name not in torch.packages and package.name != "triton"
    ]


def _with_family(choice: Choice, names: list[str]) -> Choice | None:
    """The same choice with more of torch's family, of the same build; None where the tables have no such."""
    build = next(judged.build for judged in choice.chosen if "torch" in judged.build.packages)
    wishes = (*_pinned(choice.wish.packages, "torch", build.packages["torch"]), *names)
    again = choose(msgspec.structs.replace(choice.wish, packages=wishes), choice.site)
    same = again.packages.get("torch") == choice.packages.get("torch")
    return msgspec.structs.replace(again, wish=choice.wish) if again.chosen and same else None


def _pinned(wishes: tuple[str, ...], name: str, version: str) -> tuple[str, ...]:
    rest = tuple(wish for wish in wishes if name_of(wish) != name)
    return (*rest, f"{name}=={version}")


def _another_release(choice: Choice, asker: Asker, variables: Mapping[str, str]) -> Choice | None:
    """The choice for the release that the rest of the wish wants; None where the wish names one, or none serves as well."""
    lead = choice.chosen[0].build.package
    own = choice.wish.asked().get(lead)
    if len(choice.chosen) != 1 or not choice.chosen[0].build.packages or (own and _is_pinned(own)):
        return None
    query = question(choice)
    ours = {name_of(name) for name in choice.chosen[0].build.packages}
    free = tuple(word for word in query.wanted if name_of(word) not in ours)
    open_question = msgspec.structs.replace(
        _without(query, set(silent(query.indexes, variables))), bound={}, wanted=(*free, str(own) if own else lead)
    )
    version = next((package.version for package in _put(asker, open_question).packages if package.name == lead), "")
    plain = version.partition("+")[0]
    if not plain or plain == choice.chosen[0].build.version:
        return None
    other = choose(msgspec.structs.replace(choice.wish, packages=_pinned(choice.wish.packages, lead, plain)), choice.site)
    as_good = other.chosen and served_count(other.chosen[0], other.site) >= served_count(choice.chosen[0], choice.site)
    return msgspec.structs.replace(other, wish=choice.wish) if as_good else None


def _is_pinned(requirement: Requirement) -> bool:
    return any(clause.operator in ("==", "===") for clause in requirement.specifier)
