"""A machine of podman that runs systemd, on which rigup is used as a person uses it."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from roots import RUNTIME

PERSON = "ada"
HOSTS = ("developer.download.nvidia.com", "nvidia.github.io", "download.pytorch.org", "download.nvidia.com")
# What systemd, the mounts of the captured files and their nodes need; no disk or card of the host is in reach.
_RIGHTS = (
    *(f"--cap-add={name}" for name in ("SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "NET_ADMIN")),
    *(f"--security-opt={name}" for name in ("seccomp=unconfined", "apparmor=unconfined", "unmask=ALL", "label=disable")),
)
_IN_LEGACY = ("unshare", "--mount", "sh", "-c", 'umount /sys/fs/cgroup/unified; exec "$@"', "sh")


def _driver() -> str:
    """Layers where the kernel has them; else whole copies, which are slower."""
    return "overlay" if "overlay" in Path("/proc/filesystems").read_text().split() else "vfs"


class Podman:
    """podman with a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = tempfile.mkdtemp(prefix="rigup-")  # podman takes no longer path than one of 50 characters
        store = [
            "--root",
            str(folder / "store"),
            "--runroot",
            self.run,
            "--storage-driver",
            _driver(),
            "--cgroup-manager",
            "cgroupfs",
            "--tmpdir",
            str(folder / "tmp"),
        ]
        # crun refuses a machine of both generations of control groups; without the newer one, in a view of our own, it does not.
        before = _IN_LEGACY if os.path.ismount("/sys/fs/cgroup/unified") else ()
        self.argv = [*before, "podman", *store]
        # locks in shared memory are those of every podman of the account, and each that starts anew frees all of them
        settings = folder / "containers.conf"
        settings.write_text('[engine]\nlock_type = "file"\n')
        self.environment = {**os.environ, "CONTAINERS_CONF": str(settings)}

    def __call__(self, *argv: object, seconds: float = 300.0, **options: Any) -> "subprocess.CompletedProcess[str]":
        options = {"env": self.environment, **options}
        return subprocess.run([*self.argv, *map(str, argv)], capture_output=True, text=True, timeout=seconds, check=False, **options)

    def close(self) -> None:
        """Take away what it keeps beside its store."""
        shutil.rmtree(self.run, ignore_errors=True)

    def must(self, *argv: object, **options: Any) -> str:
        """The same; one that fails ends the test."""
        done = self(*argv, **options)
        if done.returncode:
            raise RuntimeError(f"podman {argv[:6]}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout


class Node:
    """One machine. Commands run as root; rigup runs as a person who may become root without a password."""

    def __init__(self, podman: Podman, name: str, image: str, hardware: Path, volumes: list[str]) -> None:
        self.podman, self.name, self.wheels = podman, name, hardware / "wheels"
        given = [word for volume in (*volumes, f"{hardware}:/hw") for word in ("--volume", volume)]
        hosts = [f"--add-host={host}:127.0.0.1" for host in HOSTS]
        podman.must(
            "create",
            "--name",
            name,
            "--hostname",
            "node",
            "--network=none",
            "--systemd=always",
            "--pids-limit=0",
            *_RIGHTS,
            "--ulimit=nofile=1024:4096",
            "--ulimit=nproc=4096:4096",
            *hosts,
            *given,
            image,
            "/sbin/init",
        )
        self._start()

    def _start(self) -> None:
        self.until(lambda: self.podman("start", self.name).returncode == 0, tries=10)
        self.until(lambda: self.run("systemctl", "is-system-running", check=False).strip() in ("running", "degraded"))
        self.sh("umount /run/.containerenv || true; rm -f /run/.containerenv /run/systemd/container")
        self.sh("cat /proc/sys/kernel/random/uuid > /hw/boot_id; /hw/boot")

    def until(self, so, tries: int = 150) -> None:
        """Wait for what comes by itself."""
        for _try in range(tries):
            if so():
                return
            time.sleep(0.2)
        raise RuntimeError(self.name + ": it did not come")

    def restart(self) -> None:
        """As the machine's own `systemctl reboot` does it; then what the kernel does at its start."""
        self.podman("exec", self.name, "systemctl", "reboot")
        self.until(lambda: "exited" in self.podman("inspect", "--format", "{{.State.Status}}", self.name).stdout)
        self._start()

    def kept(self, image: str) -> str:
        """Keep what lies on its disk as an image, which has no identity yet."""
        self.run("cp", "/etc/machine-id", "/run/machine-id")
        self.run("truncate", "--size=0", "/etc/machine-id")
        self.podman.must("commit", "--quiet", "--pause=false", self.name, image)
        self.run("cp", "/run/machine-id", "/etc/machine-id")
        return image

    def remove(self) -> None:
        """End it."""
        self.podman("rm", "--force", "--time", "0", self.name)

    def run(self, *argv: object, check: bool = True, text: str | None = None) -> str:
        """What a command says, as root."""
        done = self.podman("exec", "--interactive", self.name, *argv, input=text or "")
        if check and done.returncode:
            raise RuntimeError(f"{argv}: {done.stdout}{done.stderr}")
        return done.stdout

    def sh(self, script: str, *argv: str) -> str:
        """What a script says, as root."""
        return self.run("sh", "-ec", script, "sh", *argv)

    def write(self, path: str, text: str) -> None:
        """A file, with the folders above it."""
        self.run("sh", "-ec", 'mkdir -p "$(dirname "$1")"; cat > "$1"', "sh", path, text=text)

    # -- rigup ------------------------------------------------------------------------------------------
    def rigup(self, *argv: str) -> "subprocess.CompletedProcess[str]":
        """rigup as the person runs it after logging in, on a machine whose card can be seen."""
        login = ("su", "--login", PERSON, "--command", shlex.join((f"{RUNTIME}/bin/rigup", *argv)))
        return self.podman("exec", self.name, "/hw/seen", *login)

    def doctor(self, *program: str) -> dict[str, Any]:
        """The doctor's answer; of a program that ends well it has none."""
        done = self.rigup("doctor", "--json", *(("--", *program) if program else ()))
        assert program or done.returncode in (0, 1), done.stdout + done.stderr
        return json.loads(done.stdout or "{}")

    def causes(self, *program: str) -> set[str]:
        """What is wrong, not counting what is only worth knowing."""
        return {one["cause"] for one in self.doctor(*program).get("findings", ()) if one["severity"] != "note"}

    def fix(self, cause: str, *program: str) -> "subprocess.CompletedProcess[str]":
        """Mend one cause."""
        return self.rigup("fix", "--yes", cause, *(("--", *program) if program else ()))

    def resume(self) -> "subprocess.CompletedProcess[str]":
        """Go on after a restart."""
        return self.rigup("apply", "--resume", "--yes")

    def undo(self) -> "subprocess.CompletedProcess[str]":
        """Take the last run back."""
        return self.rigup("undo", "--yes")

    def state(self) -> dict[str, str]:
        """What the machine is made of, file by file: packages, accounts, configuration, programs, homes."""
        told = self.run("python3", "-c", _STATE, PERSON)
        return json.loads(told)


_STATE = """
import hashlib, json, os, stat, subprocess, sys, time
found = {}
LEFT = ("/etc/ld.so.cache", "/etc/machine-id", "/etc/resolv.conf", "/etc/hosts", "/etc/hostname", "/etc/mtab", "/usr/share/mime",
        "/home/" + sys.argv[1] + "/.local/state/rigup", "/home/" + sys.argv[1] + "/.cache", "/etc/apt/sources.list.d/.keep")
for top in ("/etc", "/boot", "/usr", "/opt", "/home", "/root", "/lib/modules", "/var/lib/dkms", "/srv/state"):
    for folder, folders, files in os.walk(top):
        folders[:] = [one for one in folders if os.path.join(folder, one) not in LEFT and one != "__pycache__"]
        for name in files + [one for one in folders if os.path.islink(os.path.join(folder, one))]:
            path = os.path.join(folder, name)
            if path in LEFT or path.endswith(("-", "~")) or (path.startswith("/etc/") and name.startswith(".pwd")):
                continue
            told = os.lstat(path)
            if stat.S_ISLNK(told.st_mode):
                found[path] = "-> " + os.readlink(path)
            elif stat.S_ISREG(told.st_mode):
                body = "%d" % told.st_size
                if path.startswith("/boot/initrd") or "/modules." in path:
                    body = "rebuilt"
                elif not path.startswith(("/usr/lib/", "/usr/share/", "/usr/bin/", "/usr/sbin/")) or told.st_mtime > time.time() - 86400:
                    body = hashlib.sha256(open(path, "rb").read()).hexdigest()[:16]
                found[path] = "%o %d:%d %s" % (told.st_mode & 0o7777, told.st_uid, told.st_gid, body)
def lines(*argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True).stdout.splitlines()
    except FileNotFoundError:
        return []
for line in lines("dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\\n"):
    name, rest = line.split(" ", 1)
    if "not-installed" not in rest:
        found["package " + name] = rest
for line in [*lines("rpm", "-qa"), *lines("pacman", "-Q")]:
    found["package " + line] = ""
for line in lines("apt-mark", "showhold"):
    found["held " + line] = ""
print(json.dumps(found))
"""
