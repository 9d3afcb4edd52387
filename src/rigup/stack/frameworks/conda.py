"""Builds of conda-forge: other architectures, C libraries and systems than those of the wheels."""

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement

from rigup.knowledge.conda_forge import CondaBuild, channel, conda_builds, conda_has, conda_specs
from rigup.knowledge.dependents import dependents
from rigup.knowledge.torch_builds import companions
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_FAMILY = ("torchvision", "torchaudio")
# Whatever else stands on a torch is compiled for the wheels, and does not load beside conda-forge's.
_BESIDE = {
    "torch": ("torch", *_FAMILY, "lightning", "pytorch-lightning"),
    "tensorflow": ("tensorflow", "keras", "tensorflow-gpu"),
    "jax": ("jax", "jaxlib", "flax"),
}


def candidates(name: str, called: tuple[str, ...], wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds of a framework that a wish allows, the newest release first.

    Args:
        name: the framework as pip calls it.
        called: names that belong to the framework.
        wishes: the wish by canonical name.
        site: the machine.

    Raises:
        KnowledgeError: the table is malformed.

    """
    plain = {word for word, row in dependents(name).items() if not row.compiled}
    own = [word for word in wishes if word in called and word not in plain]
    if name not in _BESIDE or not all(word in _BESIDE[name] for word in own):
        return
    for row in conda_builds(name, site.system, site.machine):
        packages = _packages(name, row, wishes)
        if packages is not None:
            yield _candidate(name, row, packages)


def _packages(name: str, row: CondaBuild, wishes: Mapping[str, Requirement]) -> dict[str, str] | None:
    """Exact versions of the framework and of its family; None where a wish or the channel excludes them."""
    versions = {name: row.version}
    friends = companions(row.version) if name == "torch" else None
    for companion in (friend for friend in _FAMILY if friend in wishes and friends is not None):
        version = str(getattr(friends, companion))
        if friends is None or friends.extrapolated or not conda_has(companion, version):
            return None
        versions[companion] = version
    wanted = (wish for wish in ("jaxlib" if name == "jax" else name, "tensorflow-gpu", *versions) if wish in wishes)
    fits = all(wishes[wish].specifier.contains(versions.get(wish, row.version), prereleases=True) for wish in wanted)
    return versions if fits else None


def _candidate(name: str, row: CondaBuild, packages: dict[str, str]) -> Candidate:
    specs = conda_specs(name, row) + tuple(f"{other}={version}" for other, version in packages.items() if other != name)
    return Candidate(
        package=name,
        version=row.version,
        kind="cuda" if row.cuda else "cpu",
        packages=packages,
        conda=specs,
        channel=channel(),
        code=tuple(row.code),
        cuda=row.cuda,
        python=tuple(row.python),
        glibc=row.glibc,
        macos=row.macos,
        lowest_cpu="avx" if name == "tensorflow" else "",
        source="conda_forge",
    )
