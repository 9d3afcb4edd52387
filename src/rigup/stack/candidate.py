"""What may be installed: one build of one framework, with all that it asks of a machine."""

import msgspec


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What must change outside the environment.

    Attributes:
        change: one of the contract's kinds ("nvidia-driver", "windows-driver", "os" …).
        have, to: before and after, as a person reads them.
        why: one sentence.
        weight: how much it asks of a person and risks.

    """

    change: str
    have: str | None
    to: str
    why: str
    source: str = ""
    root: bool = True
    weight: int = 10


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One build. Empty fields ask for nothing.

    Attributes:
        package, version: "torch", "2.9.1".
        variant: the local part of its index ("cu126", "rocm6.4", "cpu", "xpu").
        kind: how it reaches a device: "cuda", "rocm", "xpu", "mps", "metal", "directml", "openvino", "vulkan" or "cpu";
            "unknown" where the tables do not tell.
        packages: exact versions by name as pip takes them, the package itself first.
        files: addresses of those that no version can name in an index, by package.
        index: where it lies, "" for the default index. links: folders of files beside it.
        beside: what stands on it, with exact versions, from the default index.
        code: architectures that are compiled in.
        cuda, rocm: the toolkit inside.
        libraries: the toolkit that its libraries are of, where that is a newer one than it asks the driver for.
        driver: the lowest NVIDIA driver where its makers name one, beside what `cuda` asks.
        python: Pythons that have a wheel.
        glibc, macos: the lowest that it runs on.
        lowest_cpu: an instruction set without which it does not start ("avx").
        own_blas: its matrix products come from rocBLAS as its ROCm ships it.
        isa_min: the oldest NVIDIA chip on which it works, where `code` does not give it.
        extra_isas: targets for which it must be asked by an extra, by target ("gfx1032" -> "device-gfx1032").
        extra_of: the package that has those extras, "" the first one.
        untested: targets among them that its makers build and do not test.
        variables: what must be set wherever it runs.
        failing: NVIDIA chips on which it is known to fail.
        changes: what it asks of the system, whatever the devices.
        conda, channel: what conda is asked for, and of whom; empty for wheels.
        image, brings: the image that holds it, and the packages that need not be installed there.
        pins: libraries of NVIDIA that it brings into the environment ("cudnn"), each with the versions that it takes.
        any_cudnn: it asks for any cuDNN of its line, so that the newest is taken.
        mind: what a person has to see to, as a sentence.
        folders: addresses of folders in which the makers of packages on it keep wheels for it, by package.
        origins: pip's argument in place of the names of packages on it ("apex@git+https://…"), by package.
        narrowed_by: what stands on it and has a wheel for fewer Pythons.
        open: packages on it of which the tables know no release for it: the index decides.
        trial: why nobody can vouch for it on any device, as a sentence; "" where its makers released it.
        source: the table that it comes from.

    """

    package: str
    version: str
    variant: str = ""
    kind: str = "cpu"
    packages: dict[str, str] = {}
    files: dict[str, str] = {}
    index: str = ""
    links: tuple[str, ...] = ()
    beside: dict[str, str] = {}
    extra_indexes: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    cuda: str = ""
    rocm: str = ""
    libraries: str = ""
    driver: str = ""
    python: tuple[str, ...] = ()
    glibc: str = ""
    macos: str = ""
    lowest_cpu: str = ""
    own_blas: bool = False
    isa_min: str = ""
    extra_isas: dict[str, str] = {}
    extra_of: str = ""
    untested: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    failing: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    conda: tuple[str, ...] = ()
    channel: str = ""
    image: str = ""
    brings: tuple[str, ...] = ()
    pins: dict[str, str] = {}
    any_cudnn: bool = False
    mind: str = ""
    folders: dict[str, str] = {}
    origins: dict[str, str] = {}
    narrowed_by: str = ""
    open: tuple[str, ...] = ()
    trial: str = ""
    source: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        """How a person knows it: "torch 2.9.1+cu126", "torch 2.9.1 (conda-forge, CUDA 12.9)"."""
        if self.channel:
            return f"{self.package} {self.version} ({self.channel}{', CUDA ' + self.cuda if self.cuda else ''})"
        return f"{self.package} {self.version}".strip() + (f"+{self.variant}" if self.variant else "")


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a build serves a device.

    Attributes:
        how: "native", "trial" (an override, or nobody has tried) or "no".
        because: one sentence.
        source: the table that it comes from.
        override: value of HSA_OVERRIDE_GFX_VERSION under which it works.
        extra: the extra by which the device's code is asked for.
        change: what must change before it works.

    """

    how: str
    because: str
    source: str = ""
    override: str = ""
    extra: str = ""
    change: Change | None = None

    @property
    def served(self) -> bool:
        """It works, once the change is made."""
        return self.how != "no"


def unserved(because: str, source: str = "") -> Served:
    """It does not work, and why."""
    return Served(how="no", because=because, source=source)
