"""Where pip takes packages from on this machine, as one file for pip in a container: the index, its certificates, how long it waits."""

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path

_KEPT = ("index-url", "extra-index-url", "trusted-host", "timeout", "retries", "proxy")
_MOST = 1_000_000


def _files(variables: Mapping[str, str]) -> list[Path]:
    """Those that pip reads, the strongest last."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        own = [Path(variables.get("APPDATA", str(home)), "pip", "pip.ini")]
    else:
        config = variables.get("XDG_CONFIG_HOME") or str(home / ".config")
        own = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf"), home / ".pip" / "pip.conf", Path(config, "pip", "pip.conf")]
    return [*own, *([Path(named)] if (named := variables.get("PIP_CONFIG_FILE")) else [])]


def settings(variables: Mapping[str, str]) -> dict[str, str]:
    """Settings of pip by the names of its options, of variables before those of files; what cannot be read is left out."""
    found: dict[str, str] = {}
    for path in _files(variables):
        parser = configparser.RawConfigParser(strict=False)
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                parser.read_string(file.read(_MOST))
        except (OSError, configparser.Error):
            continue
        for section in ("global", "install"):
            found |= dict(parser.items(section)) if parser.has_section(section) else {}
    names = (*_KEPT, "cert")
    by_name = {name: variables.get("PIP_" + name.upper().replace("-", "_"), "") for name in names}
    found |= {name: value for name, value in by_name.items() if value}
    found.setdefault("cert", variables.get("REQUESTS_CA_BUNDLE") or variables.get("SSL_CERT_FILE") or "")
    return {name: found[name] for name in names if found.get(name)}


def written(folder: Path, variables: Mapping[str, str], inside: str) -> list[Path]:
    """Write the settings for a container into a folder: `pip.conf`, and the certificates beside it.

    Args:
        folder: of one run, into which nobody else comes: an index may hold a password.
        variables: of the caller.
        inside: what the folder is called in the container.

    Returns:
        The files that were written; none where pip has no settings here.

    """
    found = settings(variables)
    files = []
    if cert := found.pop("cert", ""):
        try:
            body = Path(cert).read_bytes()
        except OSError:
            body = b""
        if body:
            (folder / "ca.pem").write_bytes(body)
            files.append(folder / "ca.pem")
            found["cert"] = f"{inside}/ca.pem"
    for name in ("index-url", "extra-index-url"):  # folders of this machine are not there inside
        words = [word for word in found.get(name, "").split() if not word.startswith("file:")]
        found = {**found, name: " ".join(words)} if words else {key: found[key] for key in found if key != name}
    if found:
        lines = [f"{name} = {' '.join(value.split())}\n" for name, value in found.items()]
        (folder / "pip.conf").write_text("[global]\n" + "".join(lines), encoding="utf-8")
        files.append(folder / "pip.conf")
    return files
