"""A real Slurm on loopback: many nodes on one machine, with make-believe GPUs; neither cgroups nor systemd nor munge.

`slurm` is the cluster of a test session: two nodes of four L40 (partition `cuda`), ten of eight MI50 (`rocm`), both together
in the preemptible `scavenge`. Names of nodes are known to Slurm alone: they do not resolve. Where a program or a device is
missing, tests that ask for it are skipped by name. Who needs another shape, or stops daemons, makes a `Cluster` of its own.
A requeued job waits two minutes for its next attempt (the lifetime of credentials, job_mgr.c).
A file of such tests says `pytestmark = pytest.mark.slurm`, so that all of them run in one worker and share the cluster.
"""

import contextlib
import os
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from free_ports import free_ports

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo", "squeue")
SYSTEM_PATH = "/usr/sbin:/sbin"
# Ranks of a job meet at a port that follows from its number, so clusters that run beside each other count from other ones;
# from here on those ports lie above all that `free_ports` gives, by rigup's rule as by Lightning's.
FIRST_JOB = 5_000
STARTED_WITHIN, ENDED_WITHIN = 60.0, 30.0  # seconds: bounds of waiting, on a busy machine too
ENDED = frozenset(
    ["BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"]
)  # states in which a job has come to its end


class Kind(NamedTuple):
    """Nodes that are alike, and their partition."""

    partition: str
    nodes: int
    gpu: str
    gpus: int
    flags: str  # which visibility variable Slurm sets: the word of gres.conf
    feature: str


USUAL = (Kind("cuda", 2, "l40", 4, "nvidia_gpu_env", "nvidia"), Kind("rocm", 10, "mi50", 8, "amd_gpu_env", "amd"))

CONF = """\
ClusterName=rigup
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
# every listener on loopback alone: the default is every address, and with auth/none that is an open door
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=2
MpiDefault=none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.txt
AccountingStorageType=accounting_storage/none
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=2000
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,bf_window=4320,bf_continue,max_rpc_cnt=0
PriorityType=priority/multifactor
# nodes have more processors and memory than this machine
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=30
# on a busy machine a daemon may answer late: a node that is called down for it would lose its jobs
SlurmdTimeout=300
MessageTimeout=60
KillWait=5
MinJobAge=86400
FirstJobId={first_job}
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
"""
NODE = (
    "NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} Sockets=1 CoresPerSocket=64 ThreadsPerCore=1 "
    "RealMemory=256000 Gres=gpu:{kind.gpu}:{kind.gpus} Feature={kind.feature},{kind.partition},{kind.gpu} State=UNKNOWN\n"
)
PARTITION = "PartitionName={name} Nodes={nodes} DefaultTime=01:00:00 MaxTime=2-00:00:00 {more} State=UP\n"


class Cluster:
    """Daemons of one cluster; `start` and `stop`, or a `with` block."""

    def __init__(self, kinds: Sequence[Kind] = USUAL, **settings: object) -> None:
        """`settings` are lines of slurm.conf that take the place of the usual ones, or come beside them."""
        self.kinds, self.settings = tuple(kinds), settings
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # short: a socket's path has 108 bytes
        self.conf = self.folder / "slurm.conf"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def nodes(self) -> dict[str, Kind]:
        """Every node by its name."""
        return {f"{kind.partition}{at:02}": kind for kind in self.kinds for at in range(1, kind.nodes + 1)}

    @property
    def environment(self) -> dict[str, str]:
        """Variables for programs that ask this cluster: the caller's own without those of a job, and where Slurm is."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH_", "SRUN_"))}
        return kept | {"SLURM_CONF": str(self.conf), "PATH": f"{kept.get('PATH', '')}:{SYSTEM_PATH}"}

    def start(self) -> None:
        """Write the configuration, start every daemon, and wait until every node is idle."""
        self._write()
        self._daemon("slurmctld", "slurmctld", "-D", "-c")
        self._until(lambda: self.run("scontrol", "ping").returncode == 0, "slurmctld answers")
        for name in self.nodes:
            self.start_node(name)
        self._until(lambda: set(self._states().values()) == {"idle"}, "every node is idle")

    def start_node(self, name: str) -> None:
        """Start the daemon of a node."""
        (self.folder / "spool" / name).mkdir(parents=True, exist_ok=True)
        self._daemon(name, "slurmd", "-D", "-N", name)

    def stop_node(self, name: str) -> None:
        """End the daemon of a node: it goes down after SlurmdTimeout."""
        _end(self._daemons.pop(name))

    def stop(self) -> None:
        """End every job, then every daemon, and take the folder away."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            self._end_jobs()
        for process in reversed(self._daemons.values()):
            _end(process)
        self._daemons.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Cluster":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(
        self, *argv: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, seconds: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run a program that asks this cluster."""
        variables = self.environment | dict(env or {})
        return subprocess.run(
            argv,
            env=variables,
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def job(self, job: str | int) -> dict[str, str]:
        """What `scontrol show job` tells of a job, by name; empty for one that it does not know."""
        told = self.run("scontrol", "-o", "show", "job", str(job)).stdout
        return dict(word.split("=", 1) for word in told.split() if "=" in word)

    def wait(self, job: str | int, *states: str, seconds: float = 120) -> dict[str, str]:
        """What Slurm tells of a job once it is in one of these states, by default at its end; fails where it does not come there.

        A job that is still ending (COMPLETING) is waited for too.
        """
        wanted, facts = frozenset(states) or ENDED, {}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            facts = self.job(job)
            if facts.get("JobState") in wanted:
                return facts
            time.sleep(0.2)
        pytest.fail(f"job {job} is {facts.get('JobState')} after {seconds} s, and none of {', '.join(sorted(wanted))}")

    def cancel_all(self) -> None:
        """End what runs and waits, and wait for its end: what a test left must not stand in another's way."""
        self._end_jobs()

    def _states(self) -> dict[str, str]:
        lines = self.run("sinfo", "-h", "-N", "-o", "%N %t").stdout.splitlines()
        return dict(line.split() for line in lines) if len(lines) >= len(self.nodes) else {}

    def _end_jobs(self) -> None:
        ids = set(self.run("squeue", "-h", "-o", "%A").stdout.split())
        if ids:
            self.run("scancel", *sorted(ids))
        end = time.monotonic() + ENDED_WITHIN
        while time.monotonic() < end and self.run("squeue", "-h", "-o", "%A").stdout.split():
            time.sleep(0.1)

    def _daemon(self, name: str, program: str, *options: str) -> None:
        """A daemon in the foreground, which ends with the tests however these end."""
        bound = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        found = shutil.which(program, path=self.environment["PATH"]) or program
        with (self.folder / "log" / f"{name}.out").open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                [*bound, found, *options], env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def _until(self, holds, what: str) -> None:
        end = time.monotonic() + STARTED_WITHIN
        while not holds():
            dead = sorted(name for name, process in self._daemons.items() if process.poll() is not None)
            if dead or time.monotonic() > end:
                log = (self.folder / "log" / f"{(dead or ['slurmctld'])[0]}.out").read_text(errors="replace")
                raise RuntimeError(f"Slurm: waiting until {what}; ended: {dead}\n{log[-2000:]}")
            time.sleep(0.1)

    def _write(self) -> None:
        for name in ("state", "spool", "log", "run"):
            (self.folder / name).mkdir(exist_ok=True)
        user = _user()
        ports = iter(free_ports(1 + len(self.nodes)))
        usual = CONF.format(port=next(ports), user=user, folder=self.folder, first_job=FIRST_JOB + secrets.randbelow(4_000))
        kept = [line for line in usual.splitlines() if line.partition("=")[0] not in self.settings]
        own = [f"{name}={value}" for name, value in self.settings.items()]
        nodes = "".join(NODE.format(name=name, port=next(ports), kind=kind) for name, kind in self.nodes.items())
        self.conf.write_text("\n".join([*kept, *own, nodes]) + self._partitions())
        (self.folder / "gres.conf").write_text("AutoDetect=off\n" + "".join(map(self._devices, self.kinds)))
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")

    def _partitions(self) -> str:
        first = self.kinds[0].partition
        own = [
            PARTITION.format(name=kind.partition, nodes=names(kind), more="PriorityTier=10" + " Default=YES" * (kind.partition == first))
            for kind in self.kinds
        ]
        every = ",".join(map(names, self.kinds))
        more = "PriorityTier=1 PreemptMode=REQUEUE GraceTime=5"
        return "".join([*own, PARTITION.format(name="scavenge", nodes=every, more=more)])

    def _devices(self, kind: Kind) -> str:
        """A GPU must have a character device with a number in its name, which nobody opens."""
        files = f"/dev/tty[0-{kind.gpus - 1}]"
        if not all(_is_device(Path(f"/dev/tty{at}")) for at in range(kind.gpus)):
            (self.folder / "dev").mkdir(exist_ok=True)
            for at in range(kind.gpus):
                with contextlib.suppress(FileExistsError):
                    os.mknod(self.folder / "dev" / f"gpu{at}", stat.S_IFCHR | 0o600, os.makedev(1, 3))
            files = f"{self.folder}/dev/gpu[0-{kind.gpus - 1}]"
        return f"NodeName={names(kind)} Name=gpu Type={kind.gpu} File={files} Flags={kind.flags}\n"


def names(kind: Kind) -> str:
    """The nodes of a kind as Slurm writes them."""
    return f"{kind.partition}[01-{kind.nodes:02}]"


def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give collecting scripts of many nodes, which share this machine, ten minutes in place of two."""
    from rigup.machine.collect import posix, srun

    monkeypatch.setattr(posix, "SECONDS", 600)
    monkeypatch.setattr(srun, "SECONDS", 600.0)
    monkeypatch.setattr(srun, "_MINUTES", 20)


def missing() -> str:
    """Why a Slurm cannot be started here; "" where it can."""
    path = os.environ.get("PATH", "") + ":" + SYSTEM_PATH
    lacking = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    return f"programs of Slurm that are not installed: {', '.join(lacking)}" if lacking else ""


@pytest.fixture(scope="session")
def slurm_session() -> Iterator[Cluster]:
    """The cluster of this session, started by the first test that asks for it."""
    if why := missing():
        pytest.skip(why)
    try:
        cluster = Cluster()
        cluster.start()
    except PermissionError:
        cluster.stop()
        pytest.skip("neither /dev/tty0 to 7 nor the right to make devices, which Slurm asks for a GPU")
    except BaseException:
        cluster.stop()
        raise
    yield cluster
    cluster.stop()


@pytest.fixture
def slurm(slurm_session: Cluster, monkeypatch) -> Iterator[Cluster]:
    """The session's cluster, idle, as the cluster of this process; jobs that a test leaves end with it."""
    for name in [name for name in os.environ if name.startswith(("SLURM", "SBATCH_", "SRUN_"))]:
        monkeypatch.delenv(name)
    for name, value in slurm_session.environment.items():
        monkeypatch.setenv(name, value)
    yield slurm_session
    slurm_session.cancel_all()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a daemon: asked first, then without asking (a slurmd that never registered ignores TERM)."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
            return


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _is_device(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISCHR(path.stat().st_mode)
    return False
