"""A machine as what runs in an image sees it: the kernel and the devices are the host's, the rest is the image's."""

from rigup.knowledge.environment_images import Base, base_for
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site
from rigup.stack.wish import Wish

IMAGES = ("docker", "apptainer")
_MACHINES = {"arm64": "aarch64"}


def inside(wish: Wish, site: Site) -> Site:
    """The site that builds are judged on: the machine itself, or the inside of an image there.

    On macOS and Windows engines run Linux; on Windows it is WSL's, and the driver stays that of Windows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    if wish.manager not in IMAGES:
        changes = {"python": None, "pythons": ()} if wish.manager == "conda" and site.own_python else {}
        return site.but(holder=wish.manager, **changes)
    image_base = base(site)
    python = (image_base.python,) if image_base.python else ()
    return site.but(
        holder=wish.manager,
        system="linux",
        machine=_MACHINES.get(site.machine, site.machine),
        glibc=image_base.glibc,
        macos="",
        wsl=site.wsl or site.system == "windows",
        container=site.container or site.system == "macos",
        conda=False,
        python=image_base.python or None,
        pythons=python,
        installed={},
        environment="",
        stands=False,
        rosetta=False,
    )


def base(site: Site, build: Candidate | None = None) -> Base:
    """The image beneath a build that no vendor's image holds. Raises KnowledgeError for a malformed table."""
    return base_for(build.kind if build else "", site.jetpack)


def image(site: Site, build: Candidate, python: str) -> str:
    """The name of the image beneath a build. Raises KnowledgeError for a malformed table."""
    return build.image or base(site, build).image.format(python=python.removesuffix("t") or "3")
