"""Machines of other families than Debian's: dnf, zypper and pacman, with repositories of packages made for the tests.

The root is Debian's with the other manager in it; Debian's own is taken out, so that it answers nobody. What the
kernel and the vendors give is the same as in `packages.py`, packed as the family packs it.
"""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from packages import _OPEN, _SMI, _TABLE, LIBRARIES, MODULE, NEW, Package, compiled, lay_out
from roots import kernel, root, run, source

# A package of two releases, one that needs it.
TOOLS = tuple(
    Package(name, version, needs, {f"/usr/share/{name}/release": version + "\n"})
    for name, version, needs in (("gpu-tool", "1.0", ""), ("gpu-tool", "2.0", ""), ("gpu-extra", "1.0", "gpu-tool"))
)


class Family(NamedTuple):
    """A family of distributions: the packages of Debian that bring its manager, and its os-release."""

    name: str
    tools: tuple[str, ...]
    release: str


FAMILIES = {
    "rocky": Family(
        "rocky",
        ("dnf", "dnf-plugins-core", "createrepo-c", "rpm"),
        'NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="10.0"\nPRETTY_NAME="Rocky Linux 10.0 (Red Quartz)"\n',
    ),
    "opensuse": Family(
        "opensuse",
        ("zypper", "createrepo-c", "rpm"),
        'NAME="openSUSE Leap"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.6"\nPRETTY_NAME="openSUSE Leap 15.6"\n',
    ),
    "arch": Family(
        "arch",
        ("pacman-package-manager", "makepkg", "libarchive-tools", "zstd"),
        'NAME="Arch Linux"\nID=arch\nPRETTY_NAME="Arch Linux"\nBUILD_ID=rolling\n',
    ),
}


def made(family: Family, folder: Path, kept: Path) -> Path:
    """The root of a machine of that family, with its repositories in /srv; `kept` is Debian's, as `root` made it."""
    ready = os.environ.get("RIGUP_TEST_ROOT_" + family.name.upper())
    base = folder / family.name
    if ready:
        run("cp", "--archive", ready + "/.", base)
    else:
        root(base, kept)
        _with_tools(base, family)
    objects = _objects(base, folder / (family.name + "-objects"))
    _FILL[family.name](base, objects)
    _of_kernel(base, objects)
    for name in _OF_DEBIAN:
        (base / "usr/bin" / name).unlink(missing_ok=True)
    shutil.rmtree(base / "var/lib/dpkg/info", ignore_errors=True)
    (base / "usr/lib/os-release").write_text(family.release)
    for name in ("specs", "rpms", "trees", "build"):
        shutil.rmtree(base / "tmp" / name, ignore_errors=True)
    return base


_OF_DEBIAN = ("dpkg", "dpkg-query", "apt-get", "apt", "apt-mark", "apt-cache", "dpkg-deb", "update-initramfs")


def _with_tools(base: Path, family: Family) -> None:
    suite, address = source()
    (base / "etc/apt/sources.list").write_text(f"deb {address} {suite} main\n")
    shutil.copy("/etc/resolv.conf", base / "etc/resolv.conf")
    script = "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -qq -y --no-install-recommends"
    run("chroot", base, "sh", "-ec", f'{script} "$@"', "sh", *family.tools)


def _objects(base: Path, folder: Path) -> dict[str, str]:
    """Modules of the kernel's, libraries of a driver, and the driver's own module, which no DKMS builds here."""
    folder.mkdir()
    found = compiled(base, folder)
    at = base / "tmp/objects"
    (at / "o.c").write_text(MODULE + _OPEN)
    run("chroot", base, "gcc", "-c", '-DNAME="nvidia"', f'-DVERSION="{NEW}"', "/tmp/objects/o.c", "-o", "/tmp/objects/nvidia.ko")
    found["nvidia"] = "@copy " + str(at / "nvidia.ko")
    return found


def _of_kernel(base: Path, objects: dict[str, str]) -> None:
    """The kernel that runs, as it is found on a disk; what writes its initial file system leaves a mark."""
    modules = base / "usr/lib/modules" / kernel()
    for name, place in (("nouveau", "nouveau"), ("amdgpu", "amd/amdgpu"), ("ttm", "ttm")):
        at = modules / "kernel/drivers/gpu/drm" / place
        at.mkdir(parents=True)
        shutil.copy(objects[name].removeprefix("@copy "), at / f"{name}.ko")
    for name in ("modules.builtin", "modules.order"):
        (modules / name).write_text("")
    for name, body in (("vmlinuz", "a kernel\n"), ("config", "CONFIG_RD_GZIP=y\n"), ("initrd.img", "made before\n")):
        (base / "boot" / f"{name}-{kernel()}").write_text(body)
    run("chroot", base, "depmod", "-a", kernel())
    for name in ("dracut", "mkinitcpio"):
        (base / "usr/bin" / name).write_text('#!/bin/sh\ndate > "/boot/initrd.img-$(uname -r)"\n')
        (base / "usr/bin" / name).chmod(0o755)


# -- the driver under the names of each family -------------------------------------------------------


def _driver(names: dict[str, str], objects: dict[str, str]) -> list[Package]:
    """Four packages: the module, libraries, tools, and one that needs them all. `names` are the family's."""
    modules = f"/usr/lib/modules/{kernel()}/extra"
    smi = _SMI.format(version=NEW, short="580.95", table=_TABLE.format(version=NEW, cuda="13.0"))
    libraries = {}
    for name, soname in (("libcuda", "libcuda.so.1"), ("libnvidia-ml", "libnvidia-ml.so.1")):
        libraries |= {f"{LIBRARIES}/{name}.so.{NEW}": objects[soname], f"{LIBRARIES}/{soname}": f"-> {name}.so.{NEW}"}
    depmod = "depmod -a " + kernel()
    common = {"/usr/lib/modprobe.d/nvidia-nouveau.conf": "blacklist nouveau\n"}
    found = [
        Package(
            names["module"], NEW, files={f"{modules}/nvidia.ko": objects["nvidia"], **common}, scripts={"post": depmod, "postun": depmod}
        ),
        Package(names["libraries"], NEW, files=libraries, scripts={"post": "ldconfig", "postun": "ldconfig"}),
        Package(names["tools"], NEW, names["libraries"], {"/usr/bin/nvidia-smi": smi}),
    ]
    if names.get("all"):
        found.append(Package(names["all"], NEW, ", ".join(one.name for one in found)))
    return found


def _rocky(base: Path, objects: dict[str, str]) -> None:
    """NVIDIA's repository, with EPEL and CRB that it stands on."""
    key = _key(base)
    names = {"module": "kmod-nvidia-open-dkms", "libraries": "nvidia-driver-libs", "tools": "nvidia-driver-cuda", "all": "nvidia-open"}
    epel = "[epel]\nname=EPEL\nbaseurl=file:///srv/epel\nenabled=1\ngpgcheck=0\n"
    listed = "[{name}]\nname={name}\nbaseurl={url}\nenabled={on}\ngpgcheck={check}\n{more}"
    own = base / "srv/base"
    _rpms(
        [
            Package("epel-release", "10", files={"/etc/yum.repos.d/epel.repo": epel}),
            Package("python3-dnf-plugin-versionlock", "4.7"),
            Package("kernel-devel-matched", "6.12"),
            Package("kernel-headers", "6.12"),
            *TOOLS,
        ],
        base,
        own,
    )
    for name in ("epel", "crb"):
        _rpms([Package("of-" + name)], base, base / "srv" / name)
    host = "https://developer.download.nvidia.com/compute/cuda/repos/rhel10/x86_64"
    place = base / "srv/web" / host.removeprefix("https://")
    _rpms(_driver(names, objects), base, place, key)
    repo = listed.format(name="cuda-rhel10-x86_64", url=host, on=1, check=1, more=f"gpgkey={host}/D42D0685.pub\n")
    (place / "cuda-rhel10.repo").write_text(repo)
    shutil.copy(base / key, place / "D42D0685.pub")
    _of_system(base)
    repos = base / "etc/yum.repos.d"
    repos.mkdir(exist_ok=True)
    for name, on in (("base", 1), ("crb", 0)):
        (repos / f"{name}.repo").write_text(listed.format(name=name, url=f"file:///srv/{name}", on=on, check=0, more=""))
    (base / "etc/dnf/vars/releasever").write_text("10\n")
    (base / "etc/dnf/plugins/local.conf").write_text("[main]\nenabled=0\n")


def _opensuse(base: Path, objects: dict[str, str]) -> None:
    """The vendor's repository for Leap, signed with a key that nobody knows before."""
    key = _key(base)
    names = {
        "module": "nvidia-open-driver-G06-signed-kmp-default",
        "libraries": "libnvidia-compute-G06",
        "tools": "nvidia-compute-utils-G06",
    }
    made_of = _driver(names, objects)
    metas = [
        Package("nvidia-open-driver-G06-signed-kmp-meta", NEW, names["module"]),
        Package("nvidia-userspace-meta-G06", NEW, names["tools"]),
    ]
    place = base / "srv/web/download.nvidia.com/opensuse/leap/15.6"
    _rpms([*made_of, *metas], base, place, key)
    inside = "/" + str(place.relative_to(base)) + "/repodata/repomd.xml"
    run("chroot", base, *_GPG, "--detach-sign", "--armor", inside)
    run("chroot", base, "gpgconf", "--homedir", "/srv/key", "--kill", "all")
    shutil.copy(base / key, place / "repodata/repomd.xml.key")
    _rpms([Package("glibc-locale"), *TOOLS], base, base / "srv/base")
    _of_system(base)
    (base / "etc/zypp/repos.d").mkdir(parents=True, exist_ok=True)
    oss = "[repo-oss]\nname=oss\nenabled=1\nautorefresh=0\nbaseurl=file:///srv/base\ngpgcheck=0\n"
    (base / "etc/zypp/repos.d/repo-oss.repo").write_text(oss)


def _arch(base: Path, objects: dict[str, str]) -> None:
    names = {"module": "nvidia-open", "libraries": "nvidia-utils-libs", "tools": "nvidia-utils"}
    place = base / "srv/extra"
    place.mkdir()
    for package in (*_driver(names, objects), *TOOLS):
        _pacman(package, base, place)
    (base / "srv/older").mkdir()
    for one in place.glob("gpu-tool-2.0-*"):
        shutil.move(one, base / "srv/older")  # it comes into the repository later
    seen = ("unshare", "--mount", "--pid", "--fork", f"--mount-proc={base / 'proc'}", "chroot", base)  # it reads /dev/fd
    run(*seen, "sh", "-ec", "cd /srv/extra && repo-add -q extra.db.tar.gz *.pkg.tar.zst")
    conf = "[options]\nArchitecture = auto\nSigLevel = Never\n[extra]\nServer = file:///srv/extra\n"
    (base / "etc/pacman.conf").write_text(conf)


_FILL = {"rocky": _rocky, "opensuse": _opensuse, "arch": _arch}


# -- packing -----------------------------------------------------------------------------------------

_GPG = ("gpg", "--homedir", "/srv/key", "--batch", "--pinentry-mode", "loopback", "--yes")


def _key(base: Path) -> str:
    """A key that signs packages and lists; its public part, as a path inside the root."""
    (base / "srv/key").mkdir(mode=0o700)
    run("chroot", base, *_GPG, "--passphrase", "", "--quick-gen-key", "made for a test", "rsa2048", "sign", "never")
    run("chroot", base, *_GPG, "--armor", "--output", "/srv/public.asc", "--export")
    run("chroot", base, "gpgconf", "--homedir", "/srv/key", "--kill", "all")  # else it stays when the root is gone
    macros = base / "etc/rpm/macros"
    macros.parent.mkdir(exist_ok=True)
    macros.write_text("%_dbpath /var/lib/rpm\n%_gpg_path /srv/key\n%_gpg_name made for a test\n")
    return "srv/public.asc"


def _rpms(packages: list[Package], base: Path, place: Path, key: str = "") -> None:
    """Packages with their index; signed where a key is named."""
    place.mkdir(parents=True)
    (base / "tmp/specs").mkdir(exist_ok=True)
    for package in packages:
        _rpm(package, base)
    inside = "/" + str(place.relative_to(base))
    for one in (base / "tmp/rpms").rglob("*.rpm"):
        shutil.move(one, place / one.name)
    if key:
        run("chroot", base, "sh", "-ec", f"rpm --addsign {inside}/*.rpm; gpgconf --homedir /srv/key --kill all")
    run("chroot", base, "createrepo_c", "--quiet", inside)


def _of_system(base: Path) -> None:
    """What Debian's files give here and rpm's own list does not know of: a shell and the loader's tool."""
    _rpms([Package("system", more="Provides: /bin/sh /sbin/ldconfig\n")], base, base / "srv/system")
    run("chroot", base, "sh", "-ec", "rpm --install --justdb --nodeps --nosignature /srv/system/*.rpm")


def _rpm(package: Package, base: Path) -> None:
    label = f"{package.name}-{package.version}"
    tree = base / "tmp/trees" / label
    tree.mkdir(parents=True)
    lay_out(package, tree)
    requires = "".join(f"Requires: {one.strip()}\n" for one in package.depends.split(",") if one.strip())
    scripts = "".join(f"%{name}\n{body}\n" for name, body in package.scripts.items())
    files = "\n".join(package.files)
    spec = (
        f"Name: {package.name}\nVersion: {package.version}\nRelease: 1\nSummary: made for a test\nLicense: none\nAutoReqProv: no\n"
        f"{package.more}{requires}%global debug_package %{{nil}}\n%global __os_install_post %{{nil}}\n%description\nmade for a test\n"
        f"%install\nmkdir -p %{{buildroot}}\ncp -a /tmp/trees/{label}/. %{{buildroot}}/\n{scripts}%files\n{files}\n"
    )
    at = base / "tmp/specs" / f"{label}.spec"
    at.write_text(spec)
    run(
        "chroot",
        base,
        "rpmbuild",
        "--quiet",
        "-bb",
        "--define",
        "_rpmdir /tmp/rpms",
        "--define",
        "_topdir /tmp/build",
        f"/tmp/specs/{at.name}",
    )


def _pacman(package: Package, base: Path, place: Path) -> None:
    label = f"{package.name}-{package.version}"
    tree = base / "tmp/trees" / label
    tree.mkdir(parents=True)
    lay_out(package, tree)
    needs = "".join(f"depend = {one.strip()}\n" for one in package.depends.split(",") if one.strip())
    told = f"pkgname = {package.name}\npkgbase = {package.name}\npkgver = {package.version}-1\npkgdesc = made for a test\nbuilddate = 1760000000\nsize = 1000\narch = x86_64\n{needs}"
    (tree / ".PKGINFO").write_text(told)
    acts = {"post": ("post_install", "post_upgrade"), "postun": ("post_remove",)}
    lines = [f"{act}() {{\n{body}\n}}" for name, body in package.scripts.items() for act in acts[name]]
    (tree / ".INSTALL").write_text("\n".join(lines) + "\n")
    name = f"/{place.relative_to(base)}/{package.name}-{package.version}-1-x86_64.pkg.tar.zst"
    run("chroot", base, "sh", "-ec", f"cd /tmp/trees/{label} && bsdtar -cf - .PKGINFO .INSTALL * | zstd -q -c > {name}")
