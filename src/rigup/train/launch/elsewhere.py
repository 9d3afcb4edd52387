"""A job without a scheduler: torchrun on this machine, or on each of a list of hosts by ssh."""

import re
import shlex

from rigup.language import _
from rigup.train.launch.job import Job
from rigup.train.launch.script import FIRST_PORT, preflight_words, program_words
from rigup.train.launch.shape import LaunchError
from rigup.train.launch.variables import variables_of

_HOST = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}@)?[A-Za-z0-9][A-Za-z0-9.-]{0,250}", re.ASCII)
MOST_HOSTS = 512


def hosts_of(text: str) -> tuple[str, ...]:
    """Hosts of a list with commas, each as ssh takes it. Raises LaunchError."""
    hosts = tuple(text.split(","))
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise LaunchError(_("{word} is no host: write names with commas between them.").format(word=repr(host)[:120]))
    if len(set(hosts)) != len(hosts) or len(hosts) > MOST_HOSTS:
        raise LaunchError(_("A host may stand in the list once, and at most {most} hosts may.").format(most=MOST_HOSTS))
    return hosts


def variables_elsewhere(job: Job) -> dict[str, str]:
    """Variables of a job that no batch script sets."""
    own = {"RIGUP_TRAIN_HISTORY": f"{job.run_folder}/history", **variables_of(job), **job.program.variables}
    return {**own, "RIGUP_RUN_FOLDER": job.run_folder, "RIGUP_ATTEMPT": "1"}


def torchrun_words(job: Job, node: int, address: str) -> tuple[str, ...]:
    """The command that starts all ranks of one node; each line of output carries its rank on the node."""
    shape, rendezvous = job.shape, job.shape.rendezvous
    words = [job.program.python, "-m", "torch.distributed.run", f"--nnodes={shape.nodes}", f"--node-rank={node}"]
    words += [f"--nproc-per-node={shape.tasks_per_node}", f"--master-addr={address}", f"--master-port={rendezvous.port or FIRST_PORT}"]
    words += ["--tee=3", f"--log-dir={job.run_folder}/ranks", "--no-python"]
    return (*words, *preflight_words(job), "--", *program_words(job))


def ssh_words(job: Job, host: str, node: int, address: str) -> tuple[str, ...]:
    """The same on another host: one command for its shell, made of quoted words alone, which ends with the connection."""
    settings = [f"{name}={value}" for name, value in variables_elsewhere(job).items()]
    path = [f"PATH={':'.join(job.program.path)}:/usr/local/bin:/usr/bin:/bin"] if job.program.path else []
    taken = [word for name in job.program.unset for word in ("-u", name)]
    remote_command = shlex.join(("env", *taken, *settings, *path, *torchrun_words(job, node, address)))
    return (
        "ssh",
        "-tt",
        "-o",
        "BatchMode=yes",
        "-o",
        "ConnectTimeout=15",
        "--",
        host,
        f"cd {shlex.quote(job.program.folder)} && exec {remote_command}",
    )


# Ends what a run left on a machine: every process that has its folder in its variables, asked first.
_ENDING = """\
left() { for at in /proc/[0-9]*; do grep -qzxF "$0" "$at/environ" 2> /dev/null && echo "${at#/proc/}"; done; }
found=$(left); [ -n "$found" ] || exit 0
kill -TERM $found 2> /dev/null; rest=%d
while found=$(left) && [ -n "$found" ] && [ "$rest" -gt 0 ]; do sleep 1; rest=$((rest - 1)); done
[ -n "$found" ] || exit 0
kill -KILL $found 2> /dev/null; rest=10
while [ -n "$(left)" ] && [ "$rest" -gt 0 ]; do sleep 1; rest=$((rest - 1)); done
"""


def ending_words(job: Job, host: str, seconds: int) -> tuple[str, ...]:
    """The command that ends what a job left on a host: asked to, and killed after so many seconds."""
    remote_command = shlex.join(("sh", "-c", _ENDING % seconds, f"RIGUP_RUN_FOLDER={job.run_folder}"))
    return ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "--", host, f"exec {remote_command}")
