"""Values of parameters as machines have them, for tests of every kind of step."""

import re

_OF_FORMS = {
    "path": "/opt/x",
    "file": "/etc/x",
    "engine": "docker",
    "installer": "NVIDIA-Linux-x86_64-550.54.14.run",
    "target": "/opt/y",
    "folder": "/opt/z",
    "environment": "/opt/env",
    "index": "https://mirror.example/simple",
    "builder": "dkms autoinstall",
    "keyring": "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/arm64/cuda-keyring_1.1-1_all.deb",
    "repository": "https://developer.download.nvidia.com/compute/cudss/0.7.1/local_installers/cudss-local-tegra-repo.deb",
    "under": "/var/cudss-local-tegra-repo",
    "keys": "/var/lib/keys/*.der",
    "assignments": "A=x",
    "address": "0000:01:00.0",
    "pids": "4711",
    "vm": "104",
    "board": "q35",
    "argument": "pci=noaer",
    "disk": "nvme1",
    **dict.fromkeys(("watts", "former", "microwatts", "job", "tokens"), "300"),
}


def holes(kind) -> set[str]:
    """The parameters that a kind's commands and files are made of, with those that it must have."""
    words = [word for argv in (*kind.commands, *(kind.undo or ())) for word in argv] + list(kind.writes)
    return {*kind.params, *(hole for word in words for hole in re.findall(r"\{(\w+)[*|]?\}", word))}


def plain(kind) -> dict[str, str]:
    """Harmless values for a kind's parameters."""
    numbered = any("nvidia-smi" in argv for argv in kind.commands)
    values = {name: _OF_FORMS.get(name, "x") for name in kind.params}
    return values | ({"index": "0"} if numbered and "index" in values else {})
