"""What a resolver made of a choice: every package that goes into the environment, as one set."""

import msgspec


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """One package of the set.

    Attributes:
        name: in its canonical form ("nvidia-cublas-cu12").
        version: exact, with its local part ("2.9.1+cu126").
        index: the index that it is bound to; "" where it comes from the default places.
        url: where its file lies; "" where nobody was there to ask, so that the version is the tables' word.
        sha256: of the file, "" if unknown.
        size: bytes of the file, 0 if unknown.
        disk, sources: bytes on the disk of what it becomes, and of the Python files among that; 0 if nobody looked.
        built: there is no wheel for the machine: it is built there from its source.

    """

    name: str
    version: str
    index: str = ""
    url: str = ""
    sha256: str = ""
    size: int = 0
    disk: int = 0
    sources: int = 0
    built: bool = False

    @property
    def pin(self) -> str:
        """As installers take it."""
        return f"{self.name}=={self.version}"


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a resolver.

    Attributes:
        packages: the set, by name; empty where nothing could be resolved.
        by: the resolver ("uv 0.9.1").
        because: what of it is not resolved, and why, as sentences; empty where all of it is.
        without_default: nobody answered at the default index, and the person's other places had all of it.
        refused: the resolver's own words where it says that the set cannot be had; "" where it does not.

    """

    packages: tuple[Resolved, ...] = ()
    by: str = ""
    because: tuple[str, ...] = ()
    without_default: bool = False
    refused: str = ""

    @property
    def whole(self) -> bool:
        """Every package of the set is known, with its file."""
        return bool(self.packages) and not self.because and not self.refused

    def version(self, name: str) -> str:
        """The version of a package by its canonical name; "" where the set does not hold it."""
        return next((package.version for package in self.packages if package.name == name), "")
