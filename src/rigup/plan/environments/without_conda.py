"""The few commands of conda that rigup needs, where there is no conda: `python -m rigup.plan.environments.without_conda`.

    create -p FOLDER [-c CHANNEL]… SPEC…        install -p FOLDER [-c CHANNEL]… SPEC…
    list -p FOLDER [--revisions]                 env config vars set|unset|list -p FOLDER [NAME=VALUE…]
    env remove -p FOLDER                         clean

Solving and installing is py-rattler's; scripts of packages are not run. What was done is written into the
environment's own history, as conda writes it.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rigup.language import _
from rigup.plan.environments import staged_swap
from rigup.plan.environments.folder import environment_at, size_of
from rigup.plan.environments.record import too_powerful

DEFAULT_CHANNEL = "conda-forge"
_MOST_STATE = 1_000_000


class CondaError(Exception):
    """What was asked for cannot be done, with the reason."""


def main(words: Sequence[str]) -> int:
    """One command line; 0 done, 1 not done, 2 wrong usage."""
    options, rest = _parser().parse_known_args(list(words))
    if unknown := [word for word in rest if word.startswith("-")]:
        sys.stderr.write(_("{option} is not known here.").format(option=unknown[0]) + "\n")
        return 2
    options.words = [*options.words, *rest]
    try:
        return _COMMANDS[options.command](options)
    except CondaError as error:
        sys.stderr.write(str(error) + "\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rigup-conda", allow_abbrev=False)
    parser.add_argument("command", choices=sorted(_COMMANDS))
    parser.add_argument("words", nargs="*")
    parser.add_argument("-p", "--prefix", type=Path)
    parser.add_argument("-c", "--channel", action="append", default=[])
    for flag in ("-y", "--yes", "--override-channels", "--json", "--revisions", "-q", "--quiet", "-a", "--all"):
        parser.add_argument(flag, action="store_true")
    return parser


def _prefix(options: argparse.Namespace) -> Path:
    if options.prefix is None:
        raise CondaError(_("Say where the environment lies: -p FOLDER."))
    return Path(os.path.abspath(options.prefix))


def _prefix_of_conda(options: argparse.Namespace) -> Path:
    prefix = _prefix(options)
    if not (prefix / "conda-meta").is_dir():
        raise CondaError(_("{path} is no environment of conda.").format(path=prefix))
    return prefix


# -- making and changing -----------------------------------------------------------------------------


def _create(options: argparse.Namespace) -> int:
    """Made beside and put into its place: what is killed leaves nothing there."""
    prefix = _prefix(options)
    if prefix.is_dir() and any(prefix.iterdir()):
        raise CondaError(_("{path} is there already.").format(path=prefix))
    built = staged_swap.staging(prefix)
    if built.exists():
        staged_swap.discard(built)
    try:
        _installed(options, built, prefix, [])
        if prefix.is_dir():
            prefix.rmdir()
        prefix.parent.mkdir(parents=True, exist_ok=True)
        staged_swap.swap(built, prefix)
    finally:
        if built.exists():
            staged_swap.discard(built)
    return 0


def _install(options: argparse.Namespace) -> int:
    prefix = _prefix_of_conda(options)
    return _installed(options, prefix, prefix, _records(prefix))


def _installed(options: argparse.Namespace, folder: Path, prefix: Path, installed: list[Any]) -> int:
    """Solve with what is there in mind, and bring the folder to that; texts in it name the prefix."""
    import rattler

    before = {_label(record) for record in installed}
    try:
        wanted = asyncio.run(_solved(options, installed))
        named: dict[str, Any] = {} if folder == prefix else {"alternative_target_prefix": prefix}
        asyncio.run(
            rattler.install(
                wanted,
                target_prefix=folder,
                cache_dir=_cache() / "pkgs",
                installed_packages=installed or None,
                show_progress=sys.stderr.isatty(),
                **named,
            )
        )
    except Exception as error:  # what the solver raises has no common class
        raise CondaError(_("conda's packages cannot be installed: {error}").format(error=str(error)[:2000])) from error
    after = {_label(record) for record in wanted}
    _write_history(folder, options, sorted(after - before), sorted(before - after))
    return 0


async def _solved(options: argparse.Namespace, installed: list[Any]) -> list[Any]:
    import rattler

    channels = [rattler.Channel(name) for name in options.channel or [DEFAULT_CHANNEL]]
    gateway = rattler.Gateway(cache_dir=_cache() / "repodata")
    specs = [f"{record.name.normalized} =={record.version}" for record in installed if record.name.normalized not in _names(options.words)]
    records: list[Any] = await rattler.solve(
        channels,
        [*options.words, *specs],
        gateway=gateway,
        locked_packages=installed or None,
        virtual_packages=rattler.VirtualPackage.detect(),
    )
    return records


def _names(specs: Iterable[str]) -> set[str]:
    import rattler

    names = (rattler.MatchSpec(spec).name for spec in specs)
    return {str(getattr(name, "normalized", name)) for name in names if name is not None}


def _records(prefix: Path) -> list[Any]:
    import rattler

    return [rattler.PrefixRecord.from_path(path) for path in sorted(prefix.glob("conda-meta/*.json"))]


def _label(record: Any) -> str:
    return f"{record.name.normalized}-{record.version}-{record.build}"


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rigup", "conda")


def _write_history(folder: Path, options: argparse.Namespace, added: list[str], removed: list[str]) -> None:
    """A revision, as conda writes it."""
    words = " ".join(word.replace("\n", " ") for word in (options.command, *options.words))
    lines = [f"==> {time.strftime('%Y-%m-%d %H:%M:%S')} <==", f"# cmd: rigup {words}"]
    lines += ["-" + label for label in removed] + ["+" + label for label in added]
    (folder / "conda-meta").mkdir(exist_ok=True)
    with open(folder / "conda-meta" / "history", "a", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))


# -- looking -----------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    prefix = _prefix_of_conda(options)
    if options.revisions:
        with open(prefix / "conda-meta" / "history", encoding="utf-8", errors="replace") as file:
            sys.stdout.write(file.read())
        return 0
    rows = [_row(path) for path in sorted(prefix.glob("conda-meta/*.json"))]
    if options.json:
        sys.stdout.write(json.dumps([row for row in rows if row], indent=1) + "\n")
    else:
        sys.stdout.write("".join(f"{row['name']:<24} {row['version']:<16} {row['build_string']}\n" for row in rows if row))
    return 0


def _row(path: Path) -> dict[str, str]:
    try:
        data = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        return {"name": data["name"], "version": data["version"], "build_string": data["build"], "channel": data.get("channel") or ""}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


# -- variables, removal, caches ----------------------------------------------------------------------


def _env(options: argparse.Namespace) -> int:
    if options.words[:1] == ["remove"]:
        environment = environment_at(_prefix_of_conda(options))
        if environment is None or environment.kind != "conda":
            raise CondaError(_("{path} is no environment of conda.").format(path=options.prefix))
        staged_swap.discard(environment.path)
        return 0
    if options.words[:2] == ["config", "vars"] and options.words[2:3] and options.words[2] in ("set", "unset", "list"):
        return _variables(options.words[2], options.words[3:], _prefix_of_conda(options))
    raise CondaError(_("{words} is not known here.").format(words=" ".join(options.words)[:200]))


def _variables(action: str, words: list[str], prefix: Path) -> int:
    """Conda's own file of an environment's variables."""
    state = _state(prefix)
    variables = {str(name): str(value) for name, value in state.get("env_vars", {}).items()}
    if action == "list":
        sys.stdout.write("".join(f"{name} = {value}\n" for name, value in variables.items()))
        return 0
    if action == "set":
        pairs = [word.partition("=")[::2] for word in words]
        if refused := too_powerful(dict(pairs)):
            raise CondaError(_("A record may not set the variable {name}.").format(name=refused[0][:60]))
        variables.update(pairs)
    else:
        variables = {name: value for name, value in variables.items() if name not in words}
    _write_state(prefix, {**state, "env_vars": variables})
    return 0


def _state(prefix: Path) -> dict[str, Any]:
    try:
        with open(prefix / "conda-meta" / "state", encoding="utf-8") as file:
            state = json.loads(file.read(_MOST_STATE))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise CondaError(_("{path} cannot be read: {error}.").format(path=prefix / "conda-meta" / "state", error=error)) from error
    return state if isinstance(state, dict) and isinstance(state.get("env_vars", {}), dict) else {}


def _write_state(prefix: Path, state: dict[str, Any]) -> None:
    path = prefix / "conda-meta" / "state"
    draft = path.with_name("state.rigup-draft")
    draft.write_text(json.dumps(state), encoding="utf-8")
    os.replace(draft, path)


def _clean(options: argparse.Namespace) -> int:  # noqa: ARG001
    """Remove the packages and lists that were kept for the next time; environments are not touched."""
    freed = size_of(_cache()).all
    shutil.rmtree(_cache(), ignore_errors=True)
    sys.stdout.write(_("{count} bytes are free.").format(count=freed) + "\n")
    return 0


_COMMANDS = {"create": _create, "install": _install, "list": _list, "env": _env, "clean": _clean}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
