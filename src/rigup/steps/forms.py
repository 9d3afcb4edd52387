"""What a parameter may look like before a command or a file's name is made of it.

Every value is one argument of its own, but that alone does not keep it harmless: a dash makes an option of
a name, a slash another file of a unit's, a line break another line of what is written. Nobody's data gets
so far; a step that would be made of it is not made.
"""

import re
from collections.abc import Iterable, Mapping

_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.+~:@-]{0,199}"
_PATH = r"[^-\x00][^\x00]{0,4000}"  # of a person's own, who may name it as they like
_OWN_PATH = r"(?!.*/\.\.(?:/|\Z))/[^\x00-\x1f\x7f]{1,4000}"  # of a step that root takes
_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,199}"
_REQUIREMENT = r"[A-Za-z0-9_./][^\x00-\x1f\x7f]{0,999}"
_NUMBERED = r"(?:GPU-|MIG-)?[0-9a-fA-F][0-9a-fA-F:.-]{0,60}"
_ADDRESS = r"(?:https?|file|ftp)://[^\s\x00-\x1f\x7f]{1,2000}|/[^\x00-\x1f\x7f]{0,2000}"

_BY_NUMBER = ("slot-with-all-lanes-by-number", "slot-at-full-speed-by-number")

FORMS = {
    "module": r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}",
    "argument": r"[A-Za-z0-9_][A-Za-z0-9_.,:=@/+-]{0,199}",
    "name": _NAME,
    "value": r"[^\"\\%\x00-\x1f\x7f]{1,4000}",
    "user": r"[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,199}\$?",
    "group": r"[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,199}",
    "packages": _REQUIREMENT,
    "package": _REQUIREMENT,
    "index": _ADDRESS,
    "file": _OWN_PATH,
    "port": _WORD,
    "host": _WORD,
    "assignments": _NAME + r"=[^\s\"\\%\x00-\x1f\x7f]{1,4000}",
    **dict.fromkeys(
        (
            "service",
            "version",
            "kernel",
            "torch",
            "torchvision",
            "release",
            "engine",
            "container",
            "uuid",
            "function",
            "pid",
            "namespace",
            "daemonset",
        ),
        _WORD,
    ),
}
_OF_KIND = {
    ("end-stopped-job", "job"): r"\d{1,3}",
    ("end-stopped-processes", "pids"): r"\d{1,8}",
    ("end-suspended-program", "pids"): r"\d{1,8}",
    ("mount-boot", "partition"): r"[a-z0-9]{1,30}",
    ("set-module-option", "value"): r"[A-Za-z0-9_,:.+/=-]{1,200}",
    **{
        (kind, name): _NUMBERED
        for kind in (
            "card-power-limit",
            "card-own-power-limit",
            "cool-card-by-sensors",
            "slot-with-all-lanes",
            "slot-at-full-speed",
            *_BY_NUMBER,
            "spare-hot-card",
        )
        for name in ("index", "address")
    },
    **{
        (kind, name): r"\d{1,12}"
        for kind in ("card-power-limit", "card-own-power-limit", "trial-power-limit", "spare-hot-card", "end-batch-job")
        for name in ("watts", "former", "microwatts", "job")
    },
    ("shorter-context-of-ollamas-service", "tokens"): r"\d{3,8}",
    **{("change-base-image", name): r"[a-z0-9][\w./:-]{0,199}" for name in ("image", "old")},
    ("change-base-image", "file"): r"[A-Za-z/][\w./-]{0,199}",
    ("run-driver-installer", "installer"): r"NVIDIA-Linux-[\w.-]{1,60}\.run",
    **{(kind, "node"): _WORD for kind in ("resume-node", "resume-node-as-configured")},
    ("ask-the-disk", "disk"): r"[a-z][a-z0-9]{1,19}",
    ("see-cards-by-docker", "engine"): r"docker",
    ("unload-model", "model"): r"[A-Za-z0-9][A-Za-z0-9_./:-]{0,199}",
    ("reset-gpu", "index"): _NUMBERED,
    ("switch-mig-on", "index"): _NUMBERED,
    ("remove-mig-instances", "index"): _NUMBERED,
    ("default-compute-mode", "index"): _NUMBERED,
    **{(kind, "file"): r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}" for kind in ("install-wheel-of-abi", "get-wheel-of-abi")},
    ("set-aside-in-torch", "file"): r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}",
    ("purge-linux-driver", "pattern"): r"\(\?:[^/\x00-\x1f\x7f]{1,1999}",
    ("own-files", "owner"): r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(?::[A-Za-z0-9_.-]{1,99})?",
    ("find-package-of-library", "lib"): _WORD,
    **{(kind, "vm"): r"[1-9]\d{2,8}" for kind in ("widen-proxmox-window", "uefi-on-proxmox", "widen-ovmf-window")},
    ("widen-proxmox-window", "board"): r"i440FX|q35",
    ("hold-packages", "name"): r"[a-z][a-z-]{0,40}",
    ("register-kernel", "name"): r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}",
    ("install-from-cudas-repository", "keyring"): r"https://developer\.download\.nvidia\.com/[\w./-]{1,200}\.deb",
    ("install-from-tegras-repository", "repository"): r"https://developer\.download\.nvidia\.com/[\w./-]{1,200}\.deb",
    ("install-from-tegras-repository", "under"): r"/var/[a-z0-9.-]{1,100}",
    ("new-conda-environment", "channel"): r"[A-Za-z0-9][^\s\x00-\x1f]{0,999}",
    **{
        (kind, name): r"[a-z][a-z0-9-]{0,60}"
        for kind in ("new-conda-environment", "see-imported-by-conda")
        for name in ("package", "named")
    },
    **{(kind, "value"): r"[\w.,:/=^+-]{1,400}" for kind in ("set-in-script", "set-in-script-on-nodes")},
    ("install-rocm", "usecase"): r"[a-z][a-z0-9,-]{0,99}",
    ("install-with-conda", "channel"): r"[A-Za-z0-9][^\s\x00-\x1f]{0,999}",
    ("install-from-conda", "channel"): r"[A-Za-z0-9][^\s\x00-\x1f]{0,999}",
    ("wheels-folder-first", "part"): r"[a-z0-9_]{2,40}/[a-z0-9_/]{2,40}",
}
_OF_ROOT = dict.fromkeys(("package", "packages"), r"[A-Za-z0-9][A-Za-z0-9.+_:~=*-]{0,199}")  # of a distribution
_OF_KIND |= {("user-service", "text"): r"[^\x00\x1b]{1,60000}"}
_LISTS = {
    "sources": r"[^\x00]*",
    "others": r"[^\x00]*",  # options that rigup itself puts together
    "switch": r"[a-z0-9][a-z0-9-]{1,40}(?: (?:--)?[A-Za-z][A-Za-z-]{1,40}){1,3}",
    "builder": r"dkms autoinstall(?: -k [A-Za-z0-9_][A-Za-z0-9_.+~-]{0,199})?|akmods --force",
    "before": r"(?:env(?: -u [A-Za-z_]\w*)*)?",
    "starter": r"\s*[^-\s\x00][^\x00]*",
}


def odd(kind: str, used: Iterable[str], params: Mapping[str, str], root: bool) -> list[str]:
    """Of the parameters that commands and files are made of, those that have not the form that they must have.

    Args:
        kind: the step's kind.
        used: the holes that are filled; `names|` and `names*` stand for a list of words.
        params: what they are filled with.
        root: whether root takes the step.

    """
    return [name for hole in used if not _fits(kind, name := hole.rstrip("|*"), hole, params.get(name, ""), root)]


def _fits(kind: str, name: str, hole: str, value: str, root: bool) -> bool:
    if hole.endswith("|") and name in _LISTS:
        return re.fullmatch(_LISTS[name], value) is not None
    own = _OF_KIND.get((kind, name)) or (_OF_ROOT.get(name) if root else None)
    form = re.compile(own or FORMS.get(name) or (_OWN_PATH if root else _PATH))
    return all(form.fullmatch(word) for word in _words(hole, value))


def _words(hole: str, value: str) -> list[str]:
    """What of a list becomes an argument each."""
    if hole.endswith("|"):
        return value.split()
    return [word.strip() for word in value.split(",") if word.strip()] if hole.endswith("*") else [value]
