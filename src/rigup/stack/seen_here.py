"""This machine's own Pythons, which a look alone does not tell: the one that `python3` is, and those beside it."""

import re
import sys
from pathlib import PurePath

import msgspec

from rigup.machine.host import Host
from rigup.machine.kinds import PythonEnv
from rigup.machine.store import Facts
from rigup.stack.seen_system import uv_found
from rigup.stack.site import Site

_WHICH = "import sys; print('%d.%d' % sys.version_info[:2], getattr(sys, '_base_executable', sys.executable))"
_PACKAGES = "/lib/python3.*/site-packages/*.dist-info"
_PROGRAM = re.compile(r"/python3\.\d{1,2}$")
_VERSION = re.compile(r"3\.\d{1,2}")


def with_own_pythons(site: Site, facts: Facts) -> Site:
    """This machine's site, with the Python that `python3` is here, and the paths of those that are there."""
    from rigup.machine.local import Local

    host: Host = Local()
    site = _with_packages(site, host)
    site = _with_uv(site, facts, host)
    prefixes = [str(env.get("prefix")) for env in facts.of(PythonEnv) if env.get("kind") == "system"]
    paths = [path for prefix in prefixes for path in host.find(prefix + "/bin/python3.*") if _PROGRAM.search(path)]
    interpreters = {path.rpartition("/python")[2]: path for path in paths}
    bare = tuple(version for version, path in interpreters.items() if not _makes_environments(path, version, host))
    own = (host.run(("python3", "-c", _WHICH)).body or "").strip() if not site.has_environment else ""
    version, _blank, path = own.partition(" ")
    if not _VERSION.fullmatch(version):
        return site.but(interpreters=interpreters, bare=bare)
    able = path if _makes_environments(path, version, host) else interpreters.get(version, path)
    bare = tuple(name for name in (*bare, version) if not _makes_environments({**interpreters, version: able}[name], name, host))
    pythons = tuple(dict.fromkeys((version, *site.pythons, *interpreters)))
    return site.but(python=version, interpreters={**interpreters, version: able}, pythons=pythons, bare=tuple(dict.fromkeys(bare)))


def _with_uv(site: Site, facts: Facts, host: Host) -> Site:
    """A uv that a plain command starts, else the one that was installed beside rigup."""
    reached = uv_found(facts, host)
    sibling = str(PurePath(sys.executable).with_name("uv.exe" if site.system == "windows" else "uv"))
    present = reached or bool(host.find(sibling))
    return site.but(
        system_state=msgspec.structs.replace(site.system_state, uv=present, uv_program="" if reached or not present else sibling)
    )


def _with_packages(site: Site, host: Host) -> Site:
    """The packages of the environment that was named, by its folders."""
    if not site.environment or not host.find(site.environment + "/pyvenv.cfg"):
        return site
    folders = host.find(site.environment + "/lib/python3.*")
    python = folders[0].rpartition("/python")[2] if folders and not site.installed else site.python
    return site.but(python=python, stands=bool(folders), installed={**_all_packages(site.environment, host), **site.installed})


def _all_packages(environment: str, host: Host) -> dict[str, str]:
    """Every package of an environment by the names of its folders; facts hold those alone that matter to a diagnosis."""
    folders = (path.rpartition("/")[2].removesuffix(".dist-info") for path in host.find(environment + _PACKAGES))
    return {name.lower().replace("_", "-"): version for name, _dash, version in (folder.rpartition("-") for folder in folders) if name}


def _makes_environments(path: str, version: str, host: Host) -> bool:
    """Whether a Python brings what puts pip into a new environment."""
    return bool(host.find(f"{path.rpartition('/bin/')[0]}/lib/python{version}/ensurepip/__init__.py"))
