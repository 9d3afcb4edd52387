"""Defaults of a site and of a person: `/etc/rigup/config.toml` and `~/.config/rigup/config.toml`, the person's over it.

prefix = "/opt/rigup"                        # where environments of all lie; others may only read them
mirror = "tuna"                              # a mirror of the tables
index = "https://mirror.example/simple"      # in place of the default index
proxy = "http://proxy.example:3128"

[images]                                     # what recipes (rigup plan --as dockerfile) are built upon
torch = "registry.example/torch:latest"
"""

import difflib
import os
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from rigup.language import _
from rigup.stack.site import Site

NAME = "config.toml"
_MOST_BYTES = 200_000
_ADDRESS = re.compile(r"(?:https?|file)://[^\s\x00-\x1f\x7f]{1,2000}")
_PROXY = re.compile(r"(?:https?|socks[45]h?)://[^\s\x00-\x1f\x7f]{1,2000}")
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,-]{0,199}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,499}")


class SettingsError(Exception):
    """A file of defaults that cannot be followed; the text names the file, the place in it, and what is right."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Defaults; an empty one is unset.

    Attributes:
        prefix: folder of environments that all share.
        mirror: name of a mirror of the tables.
        proxy, index: addresses.
        images: container images beneath recipes, by the package that they are for; "base" is for all others.

    """

    prefix: str = ""
    mirror: str = ""
    proxy: str = ""
    index: str = ""
    images: dict[str, str] = {}


def settings() -> Settings:
    """The defaults in force here.

    Raises:
        SettingsError: a file says something that is not understood: nothing is done by half of it.

    """
    return read(places())


def places() -> tuple[Path, ...]:
    """The files, that of the site first."""
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        return platformdirs.site_config_path("rigup", appauthor=False) / NAME, platformdirs.user_config_path("rigup") / NAME
    folder = os.environ.get("XDG_CONFIG_HOME", "").strip()
    own = folder if os.path.isabs(folder) else os.path.expanduser("~/.config")
    return Path("/etc/rigup", NAME), Path(own, "rigup", NAME)


def read(files: tuple[Path, ...]) -> Settings:
    """The settings of all files; a later file overrides those before it. Raises SettingsError."""
    merged: dict[str, Any] = {}
    for path in files:
        values = msgspec.to_builtins(_of_file(path))
        images = {**merged.get("images", {}), **values.get("images", {})}
        merged = {**merged, **values, **({"images": images} if images else {})}
    return msgspec.convert(merged, Settings)


def _of_file(path: Path) -> Settings:
    try:
        with open(path, "rb") as file:
            body = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        raise SettingsError(_("{path} cannot be read: {error}.").format(path=path, error=error.strerror)) from error
    if len(body) > _MOST_BYTES:
        raise SettingsError(_("{path} is larger than a file of defaults is.").format(path=path))
    return _understood(body, path)


def _understood(body: bytes, path: Path) -> Settings:
    import tomllib

    try:
        table = tomllib.loads(body.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(_("{path} is no TOML file: {error}.").format(path=path, error=str(error)[:200])) from error
    try:
        _all_known(table, path)
        understood = msgspec.convert(table, Settings)
    except (msgspec.ValidationError, RecursionError) as error:
        raise SettingsError(_("{path} cannot be followed: {error}.").format(path=path, error=str(error)[:200])) from error
    _all_sound(understood, path)
    return understood


def _all_known(table: dict[str, Any], path: Path) -> None:
    known = [field.name for field in msgspec.structs.fields(Settings)]
    for name in table:
        if name not in known:
            near = ", ".join(difflib.get_close_matches(name, known, 1) or known)
            named = _("{path} sets {name}, which rigup does not know. It knows: {known}.")
            raise SettingsError(named.format(path=path, name=repr(name)[:80], known=near))


def _all_sound(values: Settings, path: Path) -> None:
    """Each value has the form that its use needs: none becomes an option or a line of something."""
    checks = {
        "prefix": (values.prefix, os.path.isabs(values.prefix) and values.prefix.isprintable()),
        "mirror": (values.mirror, _WORD.fullmatch(values.mirror)),
        "index": (values.index, _ADDRESS.fullmatch(values.index)),
        "proxy": (values.proxy, _PROXY.fullmatch(values.proxy)),
        **{f"images.{name}": (image, _IMAGE.fullmatch(image)) for name, image in values.images.items()},
    }
    for name, (value, sound) in checks.items():
        if value and not sound:
            named = _("{path} sets {name} to {value}, which is not what it takes.")
            raise SettingsError(named.format(path=path, name=name[:80], value=repr(value)[:120]))


def with_settings(site: Site, defaults: Settings) -> Site:
    """The site with the defaults where the person's own tools set nothing."""
    sources = site.sources
    changed = msgspec.structs.replace(sources, index=sources.index or defaults.index, proxy=sources.proxy or defaults.proxy)
    return site.but(sources=changed) if changed != sources else site


# -- the shared folder -------------------------------------------------------------------------------


def is_shared(path: Path, defaults: Settings) -> bool:
    """Whether an environment lies in the folder that all share."""
    if not defaults.prefix:
        return False
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(defaults.prefix))


def read_only_for_others(folder: Path) -> int:
    """Let everybody use an environment, and its owner alone change it; how many files and folders were changed.

    Raises:
        OSError: it belongs to somebody else.

    """
    changed = 0
    for above, _names, files in os.walk(folder):
        for path in (above, *(os.path.join(above, name) for name in files)):
            if not os.path.islink(path):
                changed += _opened(path)
    return changed


def _opened(path: str) -> int:
    before = os.stat(path).st_mode & 0o7777
    through = 0o111 if os.path.isdir(path) or before & 0o100 else 0
    after = (before | 0o444 | through) & ~0o6022
    if after == before:
        return 0
    os.chmod(path, after)
    return 1
