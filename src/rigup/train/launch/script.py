"""The text of a batch script: a pure function of a job. Every number in it is one of the shape, or follows from it."""

import shlex
from collections.abc import Iterator

from rigup.train.launch.job import Image, Job
from rigup.train.launch.shape import JobShape, time_text
from rigup.train.launch.variables import variables_of

SCRIPT, LOG, RECORD, ATTEMPTS = "job.sbatch", "log.txt", "launch.json", "attempts.tsv"
PREFLIGHT = "preflight/rigup_preflight.py"
_START = '"$attempt" "$(date +%s)" "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST"'
FIRST_PORT, PORTS = 20_000, 10_000  # below those that the kernel gives to outgoing connections


def batch_script(job: Job) -> str:
    """The script of a checked job, as sbatch takes it."""
    lines = [
        "#!/bin/bash",
        "# Written by `rigup launch`. Change it as you like: `rigup launch resume` submits it as it stands.",
        *(f"#SBATCH {option}" for option in options_of(job)),
        "",
        *_places(job),
        "",
        *_variables(job),
        "",
        *_address(job.shape),
        "",
        *_arguments(job),
        *_step(job),
        "",
        *_ending(job),
    ]
    return "\n".join(lines) + "\n"


def options_of(job: Job) -> Iterator[str]:
    """Each option of sbatch, as a word. Values are words of a checked job, or numbers."""
    shape, queue = job.shape, job.queue
    yield f"--job-name={job.name}"
    for name in ("partition", "account", "qos", "constraint", "exclude", "reservation"):
        if value := getattr(queue, name):
            yield f"--{name}={value}"
    yield f"--nodes={shape.nodes}"
    yield f"--ntasks-per-node={shape.tasks_per_node}"
    if shape.gpus_per_node:
        kind = f"{shape.gpu_type}:" if shape.gpu_type else ""
        yield f"--gres=gpu:{kind}{shape.gpus_per_node}"
    if shape.cpus_per_task:
        yield f"--cpus-per-task={shape.cpus_per_task}"
    if shape.memory_per_node:
        yield f"--mem={-(-shape.memory_per_node // 2**20)}M"
    if shape.time_limit:
        yield f"--time={time_text(shape.time_limit)}"
    if shape.signal is not None:
        yield f"--signal={shape.signal.name}@{shape.signal.lead}"  # without B:, so that it reaches the ranks and not this shell
    yield "--requeue" if shape.requeue else "--no-requeue"
    yield "--open-mode=append"
    if job.rows:
        yield f"--array=0-{len(job.rows) - 1}" + (f"%{job.at_once}" if job.at_once else "")
    log = f"{job.run_folder}/%a/{LOG}" if job.rows else f"{job.run_folder}/{LOG}"
    yield f'--output="{_pattern(job.run_folder)}{log.removeprefix(job.run_folder)}"'
    yield f'--chdir="{job.program.folder}"'
    yield "--export=ALL"


def _pattern(path: str) -> str:
    """A path in a file name pattern of Slurm's, where a per cent sign begins a field."""
    return path.replace("%", "%%")


def _places(job: Job) -> list[str]:
    state = '"$run/$SLURM_ARRAY_TASK_ID"' if job.rows else '"$run"'
    return [
        f"run={shlex.quote(job.run_folder)}",
        f"state={state}",
        'mkdir -p "$state"',
        f"attempt=$(($(cat \"$state/{ATTEMPTS}\" 2> /dev/null | grep -c '^start') + 1))",
        f"printf 'start\\t%s\\t%s\\t%s\\t%s\\n' {_START} >> \"$state/{ATTEMPTS}\"",
    ]


def _variables(job: Job) -> Iterator[str]:
    program = job.program
    for name in program.unset:
        yield f"unset {name}"
    for name, value in {**variables_of(job), **program.variables}.items():
        yield f"export {name}={shlex.quote(value)}"
    if program.path and job.image is None:
        folders = ":".join(map(shlex.quote, program.path))
        yield f'export PATH={folders}:"$PATH"'
    yield 'export RIGUP_RUN_FOLDER="$state" RIGUP_ATTEMPT="$attempt"'
    if job.shape.requeue:
        yield "# A rank that has written its checkpoint and wants to go on makes this file, and ends with status 0."
        yield 'export RIGUP_REQUEUE_FILE="$state/requeue"'
        yield 'rm -f "$RIGUP_REQUEUE_FILE"'


def _address(shape: JobShape) -> Iterator[str]:
    """Where ranks meet: a name that resolves, else the address by which Slurm itself reaches that node."""
    rendezvous = shape.rendezvous
    if rendezvous.address:
        yield f"export MASTER_ADDR={shlex.quote(rendezvous.address)}"
    else:
        yield 'first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
        yield 'if ! getent hosts "$first" > /dev/null; then'
        yield "    known=$(scontrol -o show node \"$first\" | sed -n 's/.* NodeAddr=\\([^ ]*\\) .*/\\1/p')"
        yield '    first=${known:-"$first"}'
        yield "fi"
        yield 'export MASTER_ADDR="$first"'
    port = str(rendezvous.port or f"$(({FIRST_PORT} + SLURM_JOB_ID % {PORTS}))")
    yield f"export MASTER_PORT={port}"


def _arguments(job: Job) -> Iterator[str]:
    """The words that a run of an array gets, by its number."""
    if not job.rows:
        return
    yield 'case "$SLURM_ARRAY_TASK_ID" in'
    for number, row in enumerate(job.rows):
        yield f"{number}) set -- {shlex.join(row)} ;;"
    yield '*) echo "rigup: no row $SLURM_ARRAY_TASK_ID in the table" >&2; exit 2 ;;'
    yield "esac"


def _step(job: Job) -> list[str]:
    """The one step of the job: a rank a task, whose numbers are told again, for srun does not take all of them from the job."""
    shape = job.shape
    options = [
        "srun",
        "--export=ALL",
        f"--nodes={shape.nodes}",
        f"--ntasks={shape.world_size}",
        f"--ntasks-per-node={shape.tasks_per_node}",
        *([f"--cpus-per-task={shape.cpus_per_task}"] if shape.cpus_per_task else []),
        "--distribution=block",  # rank 0 on the first node, where the others look for it
        "--kill-on-bad-exit=1",  # what lost a rank would wait until the time limit
        "--input=none",
        "--label",
    ]
    inside = _inside(job.image, job.program.folder) if job.image else []
    table = ['"$@"'] if job.rows else []
    words = [*preflight_words(job), "--", *program_words(job)]
    return [f"{' '.join(options)} \\", f"    {' '.join([*inside, shlex.join(words), *table])}", "status=$?"]


def preflight_words(job: Job) -> list[str]:
    """The command of a rank up to its program: it proves what was asked for, and then becomes the program."""
    shape = job.shape
    words = [job.program.python, f"{job.run_folder}/{PREFLIGHT}"]
    words += ["--nodes", str(shape.nodes), "--tasks-per-node", str(shape.tasks_per_node)]
    words += ["--gpus-per-node", str(shape.gpus_per_node), "--backend", shape.rendezvous.backend]
    words += ["--vendor", job.vendor] if job.vendor else []
    words += ["--interface", shape.rendezvous.interface] if shape.rendezvous.interface else []
    return words if job.preflight else [*words, "--no-checks"]


def program_words(job: Job) -> list[str]:
    """The program that a rank becomes."""
    return [job.program.script, *job.program.arguments]


def _inside(image: Image, folder: str) -> list[str]:
    """The command of an engine, in front of a rank's own."""
    binds = [f"--bind {shlex.quote(bound)}" for bound in image.binds]
    flags = [image.flag] if image.flag else []
    return [image.engine, "exec", *flags, *binds, "--pwd", shlex.quote(folder), shlex.quote(image.path)]


def _ending(job: Job) -> Iterator[str]:
    yield f'printf \'end\\t%s\\t%s\\t%s\\n\' "$attempt" "$(date +%s)" "$status" >> "$state/{ATTEMPTS}"'
    if job.shape.requeue:
        yield 'if [ "$status" -eq 0 ] && [ -e "$RIGUP_REQUEUE_FILE" ]; then'
        yield f'    if [ "${{SLURM_RESTART_COUNT:-0}}" -ge {job.shape.most_attempts - 1} ]; then'
        yield f'        echo "rigup: started {job.shape.most_attempts} times, and not at its end: no further attempt" >&2'
        yield "        exit 75"
        yield "    fi"
        yield '    scontrol requeue "$SLURM_JOB_ID"'
        yield "fi"
    yield 'exit "$status"'
