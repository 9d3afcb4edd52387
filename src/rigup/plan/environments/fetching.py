"""The files of a lock, brought into a folder: by pip, which knows the person's proxies and passwords, else directly."""

import hashlib
import shutil
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rigup.language import _
from rigup.plan.environments.lock_fields import CannotBeHadError, LockError, Wheel
from rigup.plan.environments.locked import places, requirement
from rigup.plan.environments.lockfile import Lock, Locked
from rigup.plan.environments.resolver import Resolver, Tries, ran
from rigup.stack.site import Site

_PIECE = 1 << 20
_MOST = 20_000_000_000  # bytes of one file


def fetch(lock: Lock, wanted: list[Locked], site: Site, resolver: Resolver, folder: Path) -> None:
    """Bring a file of every package into a folder; each is checked by its hash.

    Raises:
        LockError: one cannot be had, or is another than the lock's.
        OSError: the folder cannot be written.

    """
    if resolver.kind != "pip":
        for package in wanted:
            _directly(package.wheels[0], folder)
        return
    with TemporaryDirectory(prefix="rigup-") as work_folder:
        rows = Path(work_folder, "requirements.txt")
        rows.write_text("".join(requirement(package) + "\n" for package in wanted), encoding="utf-8")
        checks = ("--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:", "--dest", str(folder))
        options = tuple(places(site, lock, wanted))
        ran((*resolver.argv, "download", *checks, *options, "-r", str(rows)), tries=_tries(options))


def _tries(options: Sequence[str]) -> Tries | None:
    """A large file deserves the installer's own patience, unless nobody is there."""
    tries = Tries.at(options)
    return tries if tries.silent else None


def _directly(wheel: Wheel, folder: Path) -> None:
    """One file from its own address."""
    digest, left = hashlib.sha256(), wheel.size or _MOST
    try:
        with urllib.request.urlopen(wheel.url, timeout=60) as answer, open(folder / wheel.name, "xb") as file:  # noqa: S310
            while left >= 0 and (piece := answer.read(_PIECE)):
                left -= len(piece)
                digest.update(piece)
                file.write(piece)
    except (urllib.error.URLError, ValueError, TimeoutError) as error:
        template = _("{file} cannot be had from {url}: {because}.")
        raise CannotBeHadError(template.format(file=wheel.name, url=wheel.url, because=str(error)[:200])) from error
    if left < 0 or digest.hexdigest() != wheel.sha256:
        shutil.move(folder / wheel.name, folder / (wheel.name + ".wrong"))
        raise LockError(_("{file} is not the file of the lock: its hash is another.").format(file=wheel.name))
