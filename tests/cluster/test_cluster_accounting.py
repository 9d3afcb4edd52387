"""A live accounting: slurmdbd over MariaDB on loopback, jobs that really ran, and what is told of them."""

import json
import os
import shutil
import time

import pytest

from free_ports import free_ports
from rigup.cli import run
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump
from slurm_cluster import SYSTEM_PATH, Cluster, Kind, missing

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
DBD = """\
AuthType=auth/none
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser={user}
PidFile={folder}/run/slurmdbd.pid
LogFile={folder}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
CommunicationParameters=NoInAddrAny
"""
SQL = "CREATE DATABASE slurm_acct_db;\n" + "".join(
    f"CREATE USER 'slurm'@'{host}' IDENTIFIED BY 'slurm';\nGRANT ALL ON slurm_acct_db.* TO 'slurm'@'{host}';\n"
    for host in ("127.0.0.1", "localhost")
)
SQL_PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb-admin", "slurmdbd", "sacctmgr", "sacct")


class Accounted(Cluster):
    """A cluster whose jobs are accounted for in a database of its own."""

    def __init__(self, kinds):
        self.dbd, self.database = free_ports(2)
        super().__init__(
            kinds,
            AccountingStorageType="accounting_storage/slurmdbd",
            AccountingStorageHost="127.0.0.1",
            AccountingStoragePort=self.dbd,
            AccountingStorageTRES="gres/gpu,gres/gpu:l40",
        )

    def _write(self):
        """Configure, and start what slurmctld needs before it starts."""
        super()._write()
        mysql, user = self.folder / "mysql", self.conf.read_text().partition("SlurmUser=")[2].split()[0]
        mysql.mkdir()
        self._once(
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={mysql}/data",
            f"--user={user}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )
        (mysql / "init.sql").write_text(SQL)
        socket = f"--socket={mysql}/sock"
        self._daemon(
            "mariadbd",
            "mariadbd",
            "--no-defaults",
            f"--user={user}",
            f"--datadir={mysql}/data",
            socket,
            "--bind-address=127.0.0.1",
            f"--port={self.database}",
            f"--init-file={mysql}/init.sql",
            "--innodb-buffer-pool-size=64M",
            "--innodb-lock-wait-timeout=900",
        )
        self._until(lambda: self.run("mariadb-admin", "--no-defaults", socket, "-uroot", "ping").returncode == 0, "the database answers")
        conf = self.folder / "slurmdbd.conf"
        conf.write_text(DBD.format(dbd=self.dbd, database=self.database, folder=self.folder, user=user))
        conf.chmod(0o600)
        self._daemon("slurmdbd", "slurmdbd", "-D")
        self._until(lambda: self.run("sacctmgr", "-n", "show", "cluster").returncode == 0, "slurmdbd answers")
        for words in (["cluster", "rigup"], ["account", "lab", "cluster=rigup"], ["user", user, "account=lab"]):
            self._once("sacctmgr", "-i", "add", *words)

    def _once(self, *argv):
        done = self.run(*argv)
        if done.returncode:
            raise RuntimeError(f"{argv[0]}: {done.stdout[-500:]} {done.stderr[-1000:]}")

    def accounted(self, job, state):
        """Wait until the accounting tells of a job's end: it lags a moment."""
        end = time.monotonic() + 180
        while time.monotonic() < end:
            if self.run("sacct", "-n", "-X", "-P", "-j", str(job), "-o", "State").stdout.strip() == state:
                return
            time.sleep(0.3)
        pytest.fail(f"job {job} is not {state}")


@pytest.fixture(scope="module")
def accounted():
    path = f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"
    lacking = [name for name in SQL_PROGRAMS if not shutil.which(name, path=path)]
    if why := missing() or ("programs that are not installed: " + ", ".join(lacking) if lacking else ""):
        pytest.skip(why)
    cluster = Accounted((Kind("cuda", 2, "l40", 4, "nvidia_gpu_env", "nvidia"),))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def jobs(accounted, monkeypatch, tmp_path):
    """Jobs that ended well, and one that did not, all known to the accounting."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, value in accounted.environment.items():
        monkeypatch.setenv(name, value)
    well = [_submitted(accounted, "--gres=gpu:l40:2", "-t", "2", "sleep 1") for _ in range(6)]
    bad = _submitted(accounted, "--gres=gpu:l40:1", "-t", "2", "exit 3")
    for number in well:
        accounted.accounted(number, "COMPLETED")
    accounted.accounted(bad, "FAILED")
    return well, bad


def _submitted(cluster, *words):
    done = cluster.run("sbatch", "--parsable", "-p", "cuda", "-o", "/dev/null", *words[:-1], "--wrap", words[-1])
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_what_a_live_accounting_tells(accounted, jobs, capsys):
    well, bad = jobs
    read = {}
    for name, options in (("json", ["--json"]), ("text", ["-P", "-o", "ALL"])):
        done = accounted.run("sacct", "-a", "-S", "now-1hours", *options)
        read[name] = read_answer(done.stdout, Dump())
    assert read["json"] is not None
    assert read["text"] is not None
    known = {name: {row.id: row for row in dump.records} for name, dump in read.items()}
    for number in [*well, bad]:
        for field in ("state", "gpus", "elapsed", "time_limit", "partition", "account", "start", "end"):
            assert getattr(known["json"][number], field) == getattr(known["text"][number], field), (number, field)
    assert known["json"][bad].state == "FAILED"
    assert run(["cluster", "report", "--days", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "rigup.cluster-report/1"


def test_advice_counts_how_much_of_their_limits_jobs_used(accounted, jobs, tmp_path, capsys):
    (tmp_path / "rates.toml").write_text('[[rate]]\ndevice = "l40"\nnodes = 1\ngpus = 1\nseconds = [10]\n')
    holding = [_submitted(accounted, "-N1", "--gres=gpu:l40:4", "-t", "60", "sleep 600") for _ in range(2)]
    for number in holding:
        accounted.wait(number, "RUNNING")
    run(["advise", "--rates", str(tmp_path / "rates.toml"), "--on", "cuda/l40:1x1", "--json"])
    (allocation,) = json.loads(capsys.readouterr().out)["allocations"]
    accounted.cancel_all()
    assert allocation["wait"]["bound"] is False  # jobs of this accounting used seconds of their two minutes
    assert allocation["wait"]["likely"] < allocation["wait"]["high"]
    assert allocation["wait"]["high"] > 3000
