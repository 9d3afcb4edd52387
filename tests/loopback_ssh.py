"""A real sshd on loopback, with keys of its own and a client that is configured for it."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from free_ports import free_port

CONFIG = """
Host {name}
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/{known}
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
{more}"""
SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
AllowTcpForwarding yes
LogLevel VERBOSE
ForceCommand {folder}/entry
"""


def program(folder, name, body):
    """A program of our own making."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + body + "\n")
    (folder / name).chmod(0o755)


class Server:
    """An sshd, what it let in, and the client's configuration for it."""

    def __init__(self, folder, daemon):
        self.folder, self.port = folder, free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        self.key = (folder / "user.pub").read_text()
        key = " ".join((folder / "host.pub").read_text().split()[:2])
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {key}\n")
        (folder / "unknown").write_text("")
        (folder / "sshd_config").write_text(SERVER.format(port=self.port, folder=folder))
        self.renew()
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen([daemon, "-D", "-e", "-f", folder / "sshd_config"], stderr=log)

    def renew(self):
        """As at the beginning, but for the log."""
        (self.folder / "user.pub").write_text(self.key)
        (self.folder / "config").write_text("")
        (self.folder / "entries").write_text("")
        self.entry('exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
        self.add("node7")

    @property
    def log(self):
        return (self.folder / "log").read_text()

    def add(self, name, port=None, known="known", more=""):
        """One more entry of the client's configuration."""
        told = CONFIG.format(name=name, port=port or self.port, user=getpass.getuser(), folder=self.folder, known=known, more=more)
        with (self.folder / "config").open("a") as config:
            config.write(told)

    def entry(self, body):
        """What the far side does with the command that it is asked for."""
        program(self.folder, "entry", f'echo "$SSH_ORIGINAL_COMMAND" >> {self.folder}/entries\n' + body)

    @property
    def entries(self):
        return (self.folder / "entries").read_text().splitlines()


def _speaks(server):
    for _attempt in range(200):
        if server.process.poll() is not None:
            return False
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", server.port)) == 0:
                return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    found = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
    if not found or not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        pytest.skip("OpenSSH's server and client are not installed here")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # as the package's own service does
    made = Server(tmp_path_factory.mktemp("ssh"), found)
    if not _speaks(made):
        pytest.skip("sshd does not start here: " + made.log[-200:])
    program(made.folder / "client", "ssh", f'exec {shutil.which("ssh")} -F {made.folder}/config "$@"')
    yield made
    made.process.terminate()
    made.process.wait()
