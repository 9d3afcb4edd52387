"""Whether a step's change is there now, read from the machine: yes, no, or nobody can tell."""

from collections.abc import Callable, Mapping

from rigup.machine.host import Host
from rigup.plan.applying.system_packages import packages, plain_names

Params = Mapping[str, str]
_ASIDE = ".aside"
_MOST_NAMES = 400


def is_so(kind: str, params: Params, host: Host) -> bool | None:
    """Whether what a step of this kind would bring is there. None: unknown, so the step is taken."""
    probe = _PROBES.get(kind)
    return probe(params, host) if probe else None


# -- accounts ----------------------------------------------------------------------------------------


def _in_group(params: Params, host: Host) -> bool | None:
    return member(params["user"], params["group"], host)


def _myself_in_group(params: Params, host: Host) -> bool | None:
    account = host.account().body or ""
    name = account.partition("(")[2].partition(")")[0]
    return member(name, params["group"], host) if name else None


def member(user: str, group: str, host: Host) -> bool | None:
    """Whether the accounts' own files count a user to a group, whatever this login has seen of it yet."""
    groups = host.read("/etc/group").body
    if groups is None:
        return None
    lines = [line.split(":") for line in groups.splitlines() if line.startswith(group + ":")]
    if any(len(line) == 4 and user in line[3].split(",") for line in lines):
        return True
    numbers = {line[2] for line in lines if len(line) == 4}
    people = [line.split(":") for line in (host.read("/etc/passwd").body or "").splitlines()]
    return any(entry[0] == user and entry[3] in numbers for entry in people if len(entry) >= 4)


# -- files and links ---------------------------------------------------------------------------------


def _links(params: Params, host: Host) -> bool | None:
    link = host.link(params["path"])
    wanted = host.link(params["target"])
    return link.state == "known" and link.body is not None and link.body in (params["target"], wanted.body)


def _holds(path: str, wanted: str, host: Host) -> bool | None:
    content = host.read(path)
    if content.state == "refused":
        return None
    return content.body == wanted


def _blacklisted(params: Params, host: Host) -> bool | None:
    module = params["module"]
    wanted = f"blacklist {module}\noptions {module} modeset=0\n"
    return _written(f"/etc/modprobe.d/rigup-blacklist-{module}.conf", wanted, host)


def _option(params: Params, host: Host) -> bool | None:
    module, name = params["module"], params["name"]
    wanted = f"options {module} {name}={params['value']}\n"
    return _written(f"/etc/modprobe.d/rigup-{module}-{name}.conf", wanted, host)


def _drop_in(params: Params, host: Host) -> bool | None:
    path = f"/etc/systemd/system/{params['service']}.service.d/rigup-{params['name']}.conf"
    return _written(path, f'[Service]\nEnvironment="{params["name"]}={params["value"]}"\n', host)


def _written(path: str, wanted: str, host: Host) -> bool | None:
    """A file alone does not show that what follows it (an initramfs, a restart) was done too: only its lack decides."""
    return None if _holds(path, wanted, host) else False


def _loader_path(params: Params, host: Host) -> bool | None:
    return _written("/etc/ld.so.conf.d/rigup.conf", params["path"] + "\n", host)


def _set_aside(params: Params, host: Host) -> bool | None:
    return not host.find(params["path"]) and bool(host.find(params["path"] + _ASIDE))


def _no_dkms_tree(params: Params, host: Host) -> bool | None:
    return not host.find(f"/var/lib/dkms/{params['module']}/{params['version']}")


# -- modules and packages ----------------------------------------------------------------------------


def _loaded(params: Params, host: Host) -> bool | None:
    modules = host.read("/proc/modules").body
    if modules is None:
        return None
    return any(line.split(" ")[0] == params["module"].replace("-", "_") for line in modules.splitlines())


def _installed(params: Params, host: Host) -> bool | None:
    names = [name.strip() for name in params["packages"].split(",") if name.strip()]
    installed = packages(host)
    return None if installed is None else {name.partition("=")[0] for name in names} <= plain_names(installed)


def _purged(params: Params, host: Host) -> bool | None:
    names = [name.strip() for name in params["packages"].split(",") if name.strip()]
    installed = packages(host)
    return None if installed is None else not plain_names(installed) & set(names)


_PROBES: dict[str, Callable[[Params, Host], bool | None]] = {
    "join-group": _in_group,
    "join-group-yourself": _myself_in_group,
    "link-folder": _links,
    "link-library": _links,
    "blacklist-module": _blacklisted,
    "set-module-option": _option,
    "service-variable": _drop_in,
    "add-loader-path": _loader_path,
    "set-aside": _set_aside,
    "delete-stale-dkms": _no_dkms_tree,
    "load-module": _loaded,
    "install-system-packages": _installed,
    "purge-packages": _purged,
}
