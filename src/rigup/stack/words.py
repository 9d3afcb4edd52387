"""What a person calls what must change, and who gives a driver."""

from rigup.language import _


def change_name(kind: str) -> str:
    """The name of a kind of change as the contract has it ("nvidia-driver"); itself where it has no other."""
    return _names().get(kind, kind)


def _names() -> dict[str, str]:
    return {
        "nvidia-driver": _("NVIDIA's driver"),
        "windows-driver": _("the driver on Windows"),
        "amdgpu": _("AMD's kernel driver"),
        "rocm": _("ROCm"),
        "kernel": _("the kernel"),
        "kernel-parameter": _("a setting of the kernel"),
        "groups": _("your groups"),
        "toolkit": _("the CUDA toolkit"),
        "container-toolkit": _("the container toolkit"),
        "container-engine": _("the container engine"),
        "os": _("the system"),
        "wsl": _("WSL"),
        "firmware": _("the firmware"),
        "service": _("a service"),
        "python": _("Python"),
    }


def provider_name(name: str) -> str:
    """The name of who gives a driver, in the person's language. Names that are the same everywhere stay."""
    names = {
        "NVIDIA's repository": _("NVIDIA's repository"),
        "Ubuntu's archive": _("Ubuntu's archive"),
        "Debian's archive": _("Debian's archive"),
        "the graphics-drivers PPA": _("the graphics-drivers PPA"),
        "Red Hat's extensions": _("Red Hat's extensions"),
        "Microsoft's repository": _("Microsoft's repository"),
        "NVIDIA's repository for openSUSE": _("NVIDIA's repository for openSUSE"),
        "Arch's extra repository": _("Arch's extra repository"),
        "Amazon's NVIDIA repository": _("Amazon's NVIDIA repository"),
        "Flatcar's extensions": _("Flatcar's extensions"),
        "the kernel snap": _("the kernel snap"),
    }
    return names.get(name, name)
