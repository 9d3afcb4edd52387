"""A repository of small packages that bear the names of real ones, and do on a disk what those do.

A driver's package brings a module for DKMS that is really compiled, libraries that the loader really finds, and
programs that fail as NVIDIA's fail when they do not fit the module that is loaded.
"""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from roots import kernel, run

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
OLD, NEW = "550.120", "580.95.05"


class Package(NamedTuple):
    """What one package holds: files by path, `-> target` for a link, and scripts by name (postinst, prerm)."""

    name: str
    version: str = "1.0"
    depends: str = ""
    files: Mapping[str, str] = {}
    scripts: Mapping[str, str] = {}
    more: str = ""


def lay_out(package: Package, tree: Path) -> None:
    """Its files, as they are to lie below a folder."""
    for path, body in package.files.items():
        at = tree / path.lstrip("/")
        at.parent.mkdir(parents=True, exist_ok=True)
        if body.startswith("-> "):
            at.symlink_to(body.removeprefix("-> "))
        elif body.startswith("@copy "):
            shutil.copy(body.removeprefix("@copy "), at)
        else:
            at.write_text(body)
            at.chmod(0o755 if body.startswith("#!") else 0o644)


def build(package: Package, folder: Path, into: Path) -> None:
    """A .deb of it."""
    tree = folder / f"{package.name}_{package.version}"
    (tree / "DEBIAN").mkdir(parents=True)
    lay_out(package, tree)
    depends = f"Depends: {package.depends}\n" if package.depends else ""
    control = f"Package: {package.name}\nVersion: {package.version}\nArchitecture: amd64\nMaintainer: nobody <nobody@example.com>\n{depends}{package.more}Description: made for a test\n"
    (tree / "DEBIAN/control").write_text(control)
    for name, body in package.scripts.items():
        at = tree / "DEBIAN" / name
        at.write_text(body)
        at.chmod(0o755)
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, into / f"{package.name}_{package.version}_amd64.deb")


def repositories(root: Path, folder: Path) -> None:
    """The distribution's packages in /srv/repository of a root, vendors' own as their hosts give them in /srv/web."""
    objects = compiled(root, folder)
    (root / "srv/key").mkdir(mode=0o700)
    key = [*_GPG, "--export-options", "export-minimal", "--output"]
    run("chroot", root, *_GPG, "--passphrase", "", "--quick-gen-key", "made for a test", "default", "default", "never")
    (root / "srv/web").mkdir(parents=True)
    run("chroot", root, *key, "/srv/web/key.gpg", "--export")
    indexed(everything(objects), folder / "trees", root / "srv/repository")
    toolkit = root / "srv/web/nvidia.github.io/libnvidia-container"
    indexed(toolkits(), folder / "toolkit", toolkit / "stable/deb/amd64")
    listed = "deb https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n"
    (toolkit / "stable/deb/nvidia-container-toolkit.list").write_text(listed)
    run("chroot", root, *key, "/srv/web/nvidia.github.io/libnvidia-container/gpgkey", "--armor", "--export")
    cuda = root / "srv/web/developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64"
    indexed(debians(objects, root / "srv/web/key.gpg"), folder / "cuda", cuda)
    (cuda / "cuda-keyring_1.1-1_amd64.deb").rename(cuda / "cuda-keyring_1.1-1_all.deb")
    for place in (cuda, toolkit / "stable/deb/amd64"):
        body = (place / "Packages").read_bytes()
        told = f"Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n {hashlib.sha256(body).hexdigest()} {len(body)} Packages\n"
        (place / "Release").write_text(told)
        inside = "/" + str(place.relative_to(root))
        run("chroot", root, *_GPG, "--clearsign", "--output", inside + "/InRelease", inside + "/Release")
    run("chroot", root, "gpgconf", "--homedir", "/srv/key", "--kill", "all")  # else it stays when the root is gone


_GPG = ("gpg", "--homedir", "/srv/key", "--batch", "--pinentry-mode", "loopback", "--yes")


def indexed(packages: list[Package], trees: Path, place: Path) -> None:
    """Packages with their index, as apt reads it from a folder."""
    place.mkdir(parents=True)
    for package in packages:
        build(package, trees, place)
    lines = [_entry(deb, place) for deb in sorted(place.glob("*.deb"))]
    (place / "Packages").write_text("\n".join(lines))


def _entry(deb: Path, place: Path) -> str:
    body = deb.read_bytes()
    told = run("dpkg-deb", "-f", deb).strip()
    return f"{told}\nFilename: ./{deb.relative_to(place)}\nSize: {len(body)}\nSHA256: {hashlib.sha256(body).hexdigest()}\n"


def compiled(root: Path, folder: Path) -> dict[str, str]:
    """Objects that modinfo, depmod and the loader read: modules of the kernel's, libraries of a driver."""
    made = root / "tmp/objects"
    made.mkdir(exist_ok=True)
    (made / "m.c").write_text(MODULE)
    (made / "l.c").write_text("int rigup_test(void) { return 0; }\n")
    found = {}
    for name in ("nouveau", "nova_core", "nova_drm", "amdgpu", "ttm"):
        run("chroot", root, "gcc", "-c", f'-DNAME="{name}"', '-DVERSION="in-tree"', "/tmp/objects/m.c", "-o", f"/tmp/objects/{name}.ko")
        found[name] = "@copy " + str(made / f"{name}.ko")
    for name in ("libcuda.so.1", "libnvidia-ml.so.1", "libcudart.so.11.0"):
        run("chroot", root, "gcc", "-shared", "-nostdlib", "-fPIC", f"-Wl,-soname,{name}", "/tmp/objects/l.c", "-o", f"/tmp/objects/{name}")
        found[name] = "@copy " + str(made / name)
    return found


MODULE = """
#define TEXT(name, value) static const char m_##name[] __attribute__((used, section(".modinfo"))) = #name "=" value
TEXT(version, VERSION);
TEXT(license, "GPL");
TEXT(name, NAME);
TEXT(description, "made for a test");
"""
_DKMS_CONF = """PACKAGE_NAME="nvidia"
PACKAGE_VERSION="{version}"
BUILT_MODULE_NAME[0]="nvidia"
DEST_MODULE_LOCATION[0]="/updates/dkms"
MAKE[0]="make KERNEL=$kernelver VERSION={version}"
CLEAN="rm -f nvidia.ko"
AUTOINSTALL="yes"
"""
_MAKEFILE = """nvidia.ko: nvidia.c /lib/modules/$(KERNEL)/build/include/generated/autoconf.h
\tgcc -c -DNAME='"nvidia"' -DVERSION='"$(VERSION)"' nvidia.c -o nvidia.ko
"""
# As the packages of DKMS modules do it: added and built where there are headers, else left for the next kernel.
_DKMS_POSTINST = """#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
if [ -e /etc/rigup-test-fails ]; then echo 'Error! Bad return status for module build on kernel' >&2; exit 10; fi
dkms add -m nvidia -v {version} || true
if [ -e /lib/modules/$(uname -r)/build/include ]; then dkms build -m nvidia -v {version} && dkms install -m nvidia -v {version}; fi
"""
_DKMS_PRERM = """#!/bin/sh
dkms remove -m nvidia -v {version} --all || true
"""
_SMI = """#!/bin/sh
module=$(sed -n 's/^NVRM version: .*Module  *\\(Open  *\\)\\{{0,1\\}}\\([0-9.]*\\) .*/\\2/p' /proc/driver/nvidia/version 2>/dev/null)
if [ -z "$module" ]; then
    echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."
    exit 9
fi
if [ "$module" != {version} ]; then
    printf 'Failed to initialize NVML: Driver/library version mismatch\\nNVML library version: %s\\n' {short}
    exit 18
fi
[ "$1" != -L ] || {{ echo "GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1f0c2a7e-5b43-9d18-6c2f-7a94e0d3b851)"; exit 0; }}
[ -z "$1" ] || exit 2
cat <<'END'
{table}END
"""
_TABLE = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI {version:<22} Driver Version: {version:<14} CUDA Version: {cuda:<8} |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0  On |                  N/A |
| 30%   36C    P8             18W /  350W |     412MiB /  24576MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
"""
_CTK = """#!/bin/sh
case "$1 $2" in
"runtime configure")
    case "$3" in --runtime=docker) ;; *) echo "only docker is made for this test" >&2; exit 1;; esac
    mkdir -p /etc/docker
    printf '{\\n    "runtimes": {\\n        "nvidia": {\\n            "args": [],\\n            "path": "nvidia-container-runtime"\\n        }\\n    }\\n}\\n' > /etc/docker/daemon.json;;
"cdi generate")
    file=${3#--output=}; mkdir -p "$(dirname "$file")"
    printf 'cdiVersion: 0.5.0\\nkind: nvidia.com/gpu\\ndevices:\\n- name: "0"\\n- name: all\\n' > "$file";;
*) exit 2;;
esac
"""
_SERVICE = "[Unit]\nDescription={what}\n\n[Service]\nExecStart=/bin/sleep infinity\n{more}\n[Install]\nWantedBy=multi-user.target\n"
_STARTED = "#!/bin/sh\nset -e\nsystemctl daemon-reload\nsystemctl enable --now {name}\n"
_STOPPED = '#!/bin/sh\n[ "$1" != remove ] || systemctl disable --now {name} || true\n'
_CONFIG = "#!/bin/sh\nset -e\n. /usr/share/debconf/confmodule\ndb_input critical rigup-asks/answer || true\ndb_go\n"


def everything(objects: Mapping[str, str]) -> list[Package]:
    """All packages of the repository."""
    return [*kernels(objects), *drivers(objects, OLD), *drivers(objects, NEW), *services(), *odd(objects), *containers()]


def kernels(objects: Mapping[str, str]) -> list[Package]:
    """The kernel that runs as a package, and its headers."""
    release = kernel()
    modules, headers = f"/lib/modules/{release}", f"/usr/src/linux-headers-{release}"
    gpu = f"{modules}/kernel/drivers/gpu/drm"
    return [
        Package(
            f"linux-image-{release}",
            files={
                f"/boot/vmlinuz-{release}": "a kernel\n",
                f"/boot/config-{release}": "CONFIG_RD_GZIP=y\n",
                f"{modules}/modules.builtin": "",
                f"{modules}/modules.order": "",
                f"{gpu}/nouveau/nouveau.ko": objects["nouveau"],
                f"{gpu}/amd/amdgpu/amdgpu.ko": objects["amdgpu"],
                f"{gpu}/ttm/ttm.ko": objects["ttm"],
            },
            scripts={"postinst": "#!/bin/sh\nset -e\ndepmod -a " + release + "\nupdate-initramfs -c -k " + release + "\n"},
        ),
        Package(
            f"linux-headers-{release}",
            files={f"{headers}/include/generated/autoconf.h": "", f"{headers}/.config": "", f"{modules}/build": f"-> {headers}"},
        ),
        Package(
            f"linux-modules-nova-{release}",
            files={
                f"{modules}/kernel/drivers/gpu/nova-core/nova_core.ko": objects["nova_core"],
                f"{gpu}/nova/nova_drm.ko": objects["nova_drm"],
            },
            scripts={"postinst": "#!/bin/sh\ndepmod -a " + release + "\n"},
        ),
        Package("linux-headers-amd64", depends=f"linux-headers-{release}"),
        Package("linux-headers-generic", depends=f"linux-headers-{release}"),
    ]


def drivers(objects: Mapping[str, str], version: str) -> list[Package]:
    """NVIDIA's driver of one branch under the names that Ubuntu has for it."""
    branch, short = version.partition(".")[0], ".".join(version.split(".")[:2])
    source = f"/usr/src/nvidia-{version}"
    cuda = {OLD: "12.4", NEW: "13.0"}[version]
    smi = _SMI.format(version=version, short=short, table=_TABLE.format(version=version, cuda=cuda))
    libraries = {}
    for name, soname in (("libcuda", "libcuda.so.1"), ("libnvidia-ml", "libnvidia-ml.so.1")):
        libraries |= {f"{LIBRARIES}/{name}.so.{version}": objects[soname], f"{LIBRARIES}/{soname}": f"-> {name}.so.{version}"}
    made = [
        Package(
            f"libnvidia-compute-{branch}",
            version,
            files=libraries,
            more="Provides: libnvidia-compute\nConflicts: libnvidia-compute\nReplaces: libnvidia-compute\n",
        ),
        Package(
            f"nvidia-utils-{branch}",
            version,
            f"libnvidia-compute-{branch}",
            {"/usr/bin/nvidia-smi": smi},
            more="Provides: nvidia-utils\nConflicts: nvidia-utils\nReplaces: nvidia-utils\n",
        ),
        Package(
            f"nvidia-kernel-common-{branch}",
            version,
            files={"/usr/lib/modprobe.d/nvidia-graphics-drivers.conf": "blacklist nouveau\n"},
            more="Provides: nvidia-kernel-common\nConflicts: nvidia-kernel-common\nReplaces: nvidia-kernel-common\n",
        ),
    ]
    for flavour in ("", "-open"):
        files = {
            f"{source}/dkms.conf": _DKMS_CONF.format(version=version),
            f"{source}/Makefile": _MAKEFILE,
            f"{source}/nvidia.c": MODULE + (_OPEN if flavour else ""),
        }
        scripts = {"postinst": _DKMS_POSTINST.format(version=version), "prerm": _DKMS_PRERM.format(version=version)}
        only = "Provides: nvidia-dkms-any\nConflicts: nvidia-dkms-any\nReplaces: nvidia-dkms-any\n"
        made.append(Package(f"nvidia-dkms-{branch}{flavour}", version, f"dkms, nvidia-kernel-common-{branch}", files, scripts, only))
        needs = f"nvidia-dkms-{branch}{flavour}, nvidia-utils-{branch}, libnvidia-compute-{branch}, rigup-asks"
        made.append(Package(f"nvidia-driver-{branch}{flavour}", version, needs))
    return made


_UBUNTU_DRIVERS = """#!/bin/sh
[ "$1" = install ] || exit 2
exec apt-get install -y "nvidia-driver-${2#nvidia:}"
"""
_OPEN = 'TEXT(license2, "Dual MIT/GPL");\n'


def services() -> list[Package]:
    """Services that start without anybody's shell."""
    ollama = _SERVICE.format(what="Ollama Service", more="User=root\n")
    return [
        Package(
            "ollama",
            files={"/usr/lib/systemd/system/ollama.service": ollama},
            scripts={"postinst": _STARTED.format(name="ollama"), "prerm": _STOPPED.format(name="ollama")},
        ),
        Package(
            "nvidia-fabricmanager-550",
            OLD,
            files={"/usr/lib/systemd/system/nvidia-fabricmanager.service": _SERVICE.format(what="NVIDIA fabric manager service", more="")},
            scripts={"postinst": "#!/bin/sh\nsystemctl daemon-reload\n", "prerm": _STOPPED.format(name="nvidia-fabricmanager")},
        ),
    ]


_DOCKER = """#!/bin/sh
[ "$1" = run ] || exit 1
if command -v nvidia-container-runtime > /dev/null && grep -q nvidia-container-runtime /etc/docker/daemon.json 2> /dev/null; then exit 0; fi
echo 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].' >&2
exit 125
"""


def containers() -> list[Package]:
    """A container engine that starts no containers, and says what a real one says where it cannot give them a card."""
    unit = _SERVICE.format(what="Docker Application Container Engine", more="")
    files = {"/usr/lib/systemd/system/docker.service": unit, "/usr/bin/docker": _DOCKER, "/usr/bin/dockerd": "#!/bin/sh\n"}
    started = {"postinst": _STARTED.format(name="docker"), "prerm": _STOPPED.format(name="docker")}
    return [Package("docker.io", "26.1.5", files=files, scripts=started)]


def toolkits() -> list[Package]:
    """NVIDIA's container toolkit, which no distribution has."""
    programs = ("nvidia-container-runtime", "nvidia-container-cli")
    base = {
        "/usr/bin/nvidia-ctk": _CTK,
        "/etc/nvidia-container-runtime/config.toml": "disable-require = false\n\n[nvidia-container-cli]\n#no-cgroups = false\n",
    }
    runtime = {f"/usr/bin/{name}": "#!/bin/sh\nexit 0\n" for name in programs}
    return [
        Package("libnvidia-container1", "1.17.8"),
        Package("libnvidia-container-tools", "1.17.8", "libnvidia-container1"),
        Package("nvidia-container-toolkit-base", "1.17.8", files=base),
        Package("nvidia-container-toolkit", "1.17.8", "nvidia-container-toolkit-base, libnvidia-container-tools", runtime),
    ]


def debians(objects: Mapping[str, str], key: Path) -> list[Package]:
    """The driver under the names that NVIDIA's own repository for Debian has for it."""
    renamed = {
        "libnvidia-compute-580": "libcuda1",
        "nvidia-utils-580": "nvidia-smi",
        "nvidia-kernel-common-580": "nvidia-kernel-common",
        "nvidia-dkms-580-open": "nvidia-kernel-open-dkms",
        "nvidia-driver-580-open": "nvidia-open",
    }
    made = []
    for one in drivers(objects, NEW):
        if one.name in renamed:
            depends = one.depends
            for old, new in renamed.items():
                depends = ", ".join(new if part == old else part for part in depends.split(", "))
            made.append(one._replace(name=renamed[one.name], depends=depends.removesuffix(", rigup-asks"), more=""))
    source = "deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/ /\n"
    keyring = {"/etc/apt/sources.list.d/cuda-debian12-x86_64.list": source, "/usr/share/keyrings/cuda-archive-keyring.gpg": f"@copy {key}"}
    return [*made, Package("nvidia-driver-pinning-580", "580"), Package("cuda-keyring", "1.1-1", files=keyring)]


def odd(objects: Mapping[str, str]) -> list[Package]:
    """Packages that go wrong: one fails half-way, one asks a question, one is already of a configuration file that a person changed."""
    broken = "#!/bin/sh\necho 'Error! Bad return status for module build on kernel' >&2\nexit 10\n"
    asks = "Template: rigup-asks/answer\nType: string\nDescription: What do you say?\n"
    return [
        Package(
            "amdgpu-dkms",
            "6.12.12",
            "dkms",
            {"/usr/src/amdgpu-6.12.12/dkms.conf": 'PACKAGE_NAME="amdgpu"\nPACKAGE_VERSION="6.12.12"\n'},
            {"postinst": broken},
        ),
        Package(
            "rigup-asks",
            depends="debconf",
            scripts={"config": _CONFIG, "templates": asks, "postinst": "#!/bin/sh\n. /usr/share/debconf/confmodule\n"},
        ),
        Package(
            "rigup-conffile", "1.0", files={"/etc/rigup-conffile.conf": "first\n"}, scripts={"conffiles": "/etc/rigup-conffile.conf\n"}
        ),
        Package(
            "rigup-conffile", "2.0", files={"/etc/rigup-conffile.conf": "second\n"}, scripts={"conffiles": "/etc/rigup-conffile.conf\n"}
        ),
        Package(
            "cuda-toolkit-11-8",
            "11.8.0",
            files={
                "/usr/local/cuda-11.8/lib64/libcudart.so.11.8.89": objects["libcudart.so.11.0"],
                "/usr/local/cuda-11.8/lib64/libcudart.so.11.0": "-> libcudart.so.11.8.89",
                "/usr/local/cuda-11.8/version.json": '{"cuda": {"name": "CUDA SDK", "version": "11.8.0"}}\n',
            },
        ),
        Package("ubuntu-drivers-common", files={"/usr/bin/ubuntu-drivers": _UBUNTU_DRIVERS}),
        *(Package(name, "6.4.1") for name in ("rocm", "rocm-hip-runtime", "rocminfo")),
    ]
