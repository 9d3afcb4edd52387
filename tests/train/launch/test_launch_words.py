"""From a request to a batch script: numbers agree, and no word of a person's or of a table becomes a command or an option."""

import contextlib
import io
import json
import shlex
import subprocess

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from rigup.cli import launch_report
from rigup.machine.slurm.words import shell_status
from rigup.schemas.launch import Preflight
from rigup.train.launch.elsewhere import hosts_of, ssh_words, torchrun_words
from rigup.train.launch.failing import failing
from rigup.train.launch.job import Image, Job, Program, checked_job
from rigup.train.launch.record import Run, load, preflights, write_folder
from rigup.train.launch.script import batch_script
from rigup.train.launch.shape import (
    JobShape,
    LaunchError,
    Queue,
    Rendezvous,
    Signal,
    bytes_of,
    checked,
    checked_name,
    gpus_of,
    seconds_of,
    time_text,
)
from rigup.train.launch.slurm import jobs_of, numbers_of
from rigup.train.launch.table import rows_of
from rigup.workflows import launching
from rigup.workflows.errors import CannotBeDoneError
from rigup.workflows.launching import Words, described

WORDS = some.text(some.characters(blacklist_characters="\x00", blacklist_categories=("Cs",)), max_size=30)


def job(words=("--lr", "0.1"), rows=(), **shape) -> Job:
    numbers = {"nodes": 2, "tasks_per_node": 2, "gpus_per_node": 2, "gpu_type": "mi50", "cpus_per_task": 8} | shape
    program = Program(script="/work/a project/train.py", arguments=tuple(words), folder="/work/a project", python="/env/bin/python")
    return Job(
        name="train",
        shape=JobShape(**numbers),
        program=program,
        run_folder="/work/a project/rigup-runs/train-1",
        vendor="amd",
        rows=tuple(rows),
        queue=Queue(partition="rocm"),
    )


def test_every_number_of_the_script_is_one_of_the_shape():
    script = batch_script(checked_job(job(time_limit=5400, memory_per_node=2**36, signal=Signal(name="USR2", lead=90))))
    options = [line.removeprefix("#SBATCH ") for line in script.splitlines() if line.startswith("#SBATCH ")]
    assert options[:9] == [
        "--job-name=train",
        "--partition=rocm",
        "--nodes=2",
        "--ntasks-per-node=2",
        "--gres=gpu:mi50:2",
        "--cpus-per-task=8",
        "--mem=65536M",
        "--time=01:30:00",
        "--signal=USR2@90",
    ]
    (step,) = [line for line in script.splitlines() if line.startswith("srun ")]
    assert set(step.split()) >= {
        "--export=ALL",
        "--nodes=2",
        "--ntasks=4",
        "--ntasks-per-node=2",
        "--cpus-per-task=8",
        "--kill-on-bad-exit=1",
    }
    assert "gpus-per-task" not in script
    assert "B:" not in script, "a signal for the batch shell alone reaches no rank"


def test_a_script_without_gpus_or_limits_leaves_them_to_the_site():
    script = batch_script(checked_job(job(gpus_per_node=0, gpu_type="", cpus_per_task=0, signal=None, requeue=False)))
    assert not any(word in script for word in ("--gres", "--mem", "--time", "--cpus-per-task", "--signal", "NCCL_", "scontrol requeue"))
    assert "--no-requeue" in script


@given(some.lists(WORDS, max_size=4), some.lists(some.lists(WORDS, max_size=4), max_size=3))
def test_words_reach_the_program_as_they_are(words, rows):
    script = batch_script(checked_job(job(words, map(tuple, rows))))
    assert subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False).returncode == 0
    head, _blank, _rest = script.partition("\n\n")
    assert all(line.startswith("#") for line in head.split("\n")), "sbatch reads options from the head alone"
    step = script[script.index("\nsrun ") : script.index("\nstatus=$?")]
    lines = shlex.split(step.replace("\\\n", " ", 1).replace('"$@"', ""))
    assert lines[lines.index("--") + 1 :] == ["/work/a project/train.py", *words]


@given(some.lists(some.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=3))
def test_rows_of_a_table_reach_the_shell_as_they_are(rows):
    script = batch_script(checked_job(job((), map(tuple, rows))))
    chosen = script[script.index('case "$SLURM_ARRAY') : script.index("\nsrun ")]
    for number, row in enumerate(rows):
        done = subprocess.run(
            ["bash", "-c", chosen + "\nprintf '%s\\0' \"$@\""], env={"SLURM_ARRAY_TASK_ID": str(number)}, capture_output=True, check=True
        )
        assert done.stdout == b"".join(word.encode() + b"\0" for word in row)


@pytest.mark.parametrize(
    "queue",
    [
        {"partition": "a\n#SBATCH --uid=0"},
        {"account": "-x"},
        {"constraint": "a b"},
        {"exclude": "$(x)"},
        {"qos": "a;b"},
        {"partition": "a b"},
    ],
)
def test_a_queue_that_would_be_another_option_is_refused(queue):
    from msgspec.structs import replace

    with pytest.raises(LaunchError):
        checked_job(replace(job(), queue=Queue(**queue)))


@pytest.mark.parametrize(
    "shape",
    [
        {"nodes": 0},
        {"tasks_per_node": 3},
        {"gpu_type": "a b"},
        {"rendezvous": Rendezvous(address="-x")},
        {"rendezvous": Rendezvous(port=70000)},
        {"rendezvous": Rendezvous(interface="a b")},
        {"signal": Signal(name="KILL")},
        {"time_limit": 60, "signal": Signal(lead=60)},
        {"rendezvous": Rendezvous(address="a$(b)")},
        {"most_attempts": 0},
    ],
)
def test_numbers_that_do_not_agree_are_refused(shape):
    with pytest.raises(LaunchError):
        checked(job(**shape).shape)


@pytest.mark.parametrize("name", ["bash", "interactive", "", "a b", "-a", "a\nb", "a" * 300])
def test_names_that_a_job_may_not_have(name):
    with pytest.raises(LaunchError):
        checked_name(name)


@pytest.mark.parametrize("folder", ["relative", '/a"b', "/a\nb", "/a$b", "/a`b"])
def test_folders_that_cannot_stand_in_a_script(folder):
    from msgspec.structs import replace

    with pytest.raises(LaunchError):
        checked_job(replace(job(), run_folder=folder))


def test_an_image_gets_folders_and_the_makers_flag():
    from msgspec.structs import replace

    image = Image(path="/images/a b.sif", flag="--rocm", binds=("/work/a project",))
    script = batch_script(checked_job(replace(job(), image=image)))
    (line,) = [line.strip() for line in script.splitlines() if "apptainer exec" in line]
    assert shlex.split(line)[:8] == [
        "apptainer",
        "exec",
        "--rocm",
        "--bind",
        "/work/a project",
        "--pwd",
        "/work/a project",
        "/images/a b.sif",
    ]
    with pytest.raises(LaunchError):
        checked_job(replace(job(), image=replace(image, binds=("/a:/etc",))))
    with pytest.raises(LaunchError):
        checked_job(replace(job(), image=replace(image, path="--writable")))


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 300), ("5:30", 330), ("1:00:00", 3600), ("1-0", 86_400), ("1-2:30", 95_400), ("2-00:00:01", 172_801)]
)
def test_times_are_read_as_slurm_reads_them(text, seconds):
    assert seconds_of(text) == seconds


@given(some.integers(1, 10**7))
def test_a_time_is_written_so_that_it_is_read_again(seconds):
    assert 0 <= seconds_of(time_text(seconds)) - seconds < 60


@given(some.text(max_size=20))
def test_odd_numbers_are_refused_in_words(text):
    for read in (seconds_of, bytes_of, gpus_of, hosts_of, checked_name, rows_of):
        with contextlib.suppress(LaunchError):
            read(text)


@given(some.text(max_size=200))
def test_odd_answers_of_slurm_tell_nothing(text):
    assert all(facts.state for facts in jobs_of(text))
    assert len(numbers_of(text)) <= 10_000
    shell_status(text)
    failing(text, [])


def test_a_line_of_scontrol_with_blanks_in_its_values():
    line = (
        "JobId=7 JobName=a JobState=FAILED Reason=NonZeroExitCode Dependency=(null) Restarts=2 ExitCode=0:9 NodeList=n[1-2] Comment=a b c\n"
    )
    (facts,) = jobs_of(line)
    assert (facts.state, facts.exit, facts.reason) == ("failed", 137, "NonZeroExitCode")
    (waiting,) = jobs_of("JobId=7 JobState=PENDING Reason=BeginTime Restarts=1 ExitCode=0:0")
    assert (waiting.state, waiting.exit) == ("requeued", None)


def test_runs_of_an_array_that_wait_share_a_line():
    jobs = jobs_of(
        "JobId=9 ArrayJobId=8 ArrayTaskId=2-4%2 JobState=PENDING Reason=Resources\nJobId=8 ArrayTaskId=1 JobState=RUNNING Reason=None\n"
    )
    assert [(element.row, element.state) for element in jobs] == [(2, "pending"), (3, "pending"), (4, "pending"), (1, "running")]


def test_the_accounting_is_read_too():
    jobs = jobs_of("JobID|State|ExitCode|NodeList\n8|FAILED|3:0|n1\n9_4|CANCELLED by 7|0:15|n[1-2]\n9_[5-6]|PENDING|0:0|None assigned\n")
    assert [(element.row, element.state, element.exit) for element in jobs[:2]] == [(-1, "failed", 3), (4, "cancelled", 143)]


def test_a_table_becomes_options():
    assert rows_of("lr,note\n0.1,\n 0.2 ,a b\n\n") == (("--lr", "0.1"), ("--lr", "0.2", "--note", "a b"))
    for bad in ("", "lr\n", "lr,lr\n1,2\n", "a b\n1\n", "-x\n1\n", "lr\n1,2\n", 'lr\n"1\n'):
        with pytest.raises(LaunchError):
            rows_of(bad)


LOG = """\
1: Traceback (most recent call last):
1:   File "train.py", line 3, in <module>
1: RuntimeError: [/pytorch/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:1234
3: Traceback (most recent call last):
3:   File "train.py", line 9, in <module>
3: KeyError: 'label'
3: something behind it
srun: error: n1: task 1: Exited with exit code 1
srun: error: n2: task 3: Exited with exit code 1
"""


def test_who_lost_a_peer_is_not_the_one_that_failed():
    failure = failing(LOG, [])
    assert failure is not None
    assert (failure.rank, failure.node, failure.exit) == (3, "n2", 1)
    assert failure.error.splitlines()[-1] == "KeyError: 'label'"


def test_a_rank_that_a_signal_ended_goes_before_those_that_srun_ended():
    failure = failing(
        "0: step 3\n2: step 3\nsrun: error: n1: task 0: Killed\nsrun: error: n2: tasks 2-3: Segmentation fault (core dumped)\n", []
    )
    assert failure is not None
    assert (failure.rank, failure.node, failure.exit, failure.error) == (2, "n2", -11, "step 3")


TORCHRUN = """\
[default0]:KeyError: 'label'
Root Cause (first observed failure):
[0]:
  time      : 2026-11-29_07:44:58
  host      : node8
  rank      : 1 (local_rank: 0)
  exitcode  : 1 (pid: 24372)
  error_file: <N/A>
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])  # over ssh lines end as on a terminal
def test_the_root_cause_that_torchrun_names(end):
    failure = failing(TORCHRUN.replace("\n", end), [])
    assert failure is not None
    assert (failure.rank, failure.node, failure.exit, failure.error) == (1, "node8", 1, "KeyError: 'label'")


def test_a_check_of_the_preflight_goes_before_all():
    check = Preflight(check="all-reduce", passed=False, measured="", expected="", seconds=1, because="it hangs", rank=2, node="n2")
    failure = failing(LOG, [check])
    assert failure is not None
    assert (failure.rank, failure.error) == (2, "all-reduce: it hangs")
    assert failing("all went well\n", []) is None


def test_hosts_are_names_and_no_options():
    assert hosts_of("a,me@b.example") == ("a", "me@b.example")
    for bad in ("", "-oProxyCommand=x", "a,a", "a b", "a;b", "a,"):
        with pytest.raises(LaunchError):
            hosts_of(bad)
    words = ssh_words(job(("a b", "$(x)")), "b", 1, "a")
    assert words[:-1] == ("ssh", "-tt", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "--", "b")
    remote_words = shlex.split(words[-1])
    assert remote_words[:3] == ["cd", "/work/a project", "&&"]
    assert tuple(remote_words[remote_words.index("/env/bin/python") :]) == torchrun_words(job(("a b", "$(x)")), 1, "a")
    assert "--node-rank=1" in remote_words


def test_a_record_that_is_none_is_refused(tmp_path):
    from rigup.train.launch.record import attempts, load, preflights

    for text in ("", "{}", "[" * 100_000, json.dumps({"job": 3})):
        (tmp_path / "launch.json").write_text(text)
        with pytest.raises(LaunchError):
            load(tmp_path)
    (tmp_path / "attempts.tsv").write_text("start\t1\t10\t7\tn1\nend\t1\t20\t0\nend\t9\t1\t1\nstart\tx\t\t\t\n\n" + "y" * 1000)
    assert [(attempt.number, attempt.start, attempt.end, attempt.exit) for attempt in attempts(tmp_path)] == [(1, 10, 20, 0)]
    (tmp_path / "preflight-2.json").write_text('{"checks": [{"check": 3}]}')
    assert preflights(tmp_path) == []


def test_what_all_agreed_on_goes_before_what_one_rank_saw(tmp_path):
    """A rank that came late takes rank 0 for lost, after rank 0 told why all end."""
    for name, rank, check in (("preflight-2-rank-0", 0, "port-answers"), ("preflight-2", 3, "devices-equal")):
        found = {"check": check, "passed": False, "measured": "", "expected": "", "seconds": 0.0, "because": "x", "rank": rank, "node": "n"}
        (tmp_path / f"{name}.json").write_text(json.dumps({"passed": False, "checks": [found]}))
    assert [check.check for check in preflights(tmp_path)] == ["devices-equal", "port-answers"]


def test_runs_of_one_second_have_a_folder_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda _form: "20260102-030405")
    (tmp_path / "a.py").write_text("")
    names = []
    for _run in range(3):
        run = write_folder(described(Words(script="a.py", here=True, python="python3")))
        names.append(load(run.folder).folder.name)
    assert names == ["a-20260102-030405", "a-20260102-030405-2", "a-20260102-030405-3"]


ANSWERS = {
    "silent": "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)'; exit 1",
    "forgotten": "echo 'slurm_load_jobs error: Invalid job id specified'; exit 1",
    "running": "echo 'JobId=7 JobName=a JobState=RUNNING Reason=None ExitCode=0:0'",
    "completed": "echo 'JobId=7 JobName=a JobState=COMPLETED Reason=None ExitCode=0:0'",
}


@pytest.fixture
def slurm_says(tmp_path, monkeypatch):
    """A run of job 7, of which `scontrol` answers so, one after the other, and the last for ever; asked without a pause."""
    path = tmp_path / "bin"
    path.mkdir()

    def prepared(*answers):
        cases = "".join(f"{number}) {ANSWERS[word]};;\n" for number, word in enumerate(answers))
        count = f'n=$(cat "{path}/n" 2> /dev/null || echo 0); echo $((n + 1)) > "{path}/n"\n'
        for name, body in (
            ("scontrol", f"{count}case $n in\n{cases}*) {ANSWERS[answers[-1]]};;\nesac"),
            ("sacct", "exit 1"),
            ("scancel", ""),
        ):
            (path / name).write_text(f"#!/bin/sh\n{body}\n")
            (path / name).chmod(0o755)
        run = Run(job=checked_job(msgspec.structs.replace(job(), run_folder=str(tmp_path / "run"))), jobs=(7,))
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "attempts.tsv").write_text("start\t1\t5\t7\tn1\nend\t1\t6\t0\n")  # one that is over, as before a requeue
        return run

    monkeypatch.setenv("PATH", f"{path}:/usr/bin:/bin")
    monkeypatch.setattr(launching, "_POLLS", (0.0,))
    monkeypatch.setattr(launching, "_LOOK", 0.0)
    return prepared


def test_a_question_that_slurm_leaves_unanswered_is_no_end(slurm_says):
    run = slurm_says("silent", "running", "silent", "silent", "running", "completed")
    lines = []
    assert launching.follow(run, lambda _piece: None, lines.append).state == "completed"
    assert lines == ["Job 7 runs.", ""]
    assert load(run.folder).last == "completed"


def test_a_slurm_that_stays_silent_is_told_and_one_that_forgot_is_believed(slurm_says, monkeypatch):
    run = slurm_says("silent")
    monkeypatch.setattr(launching, "_PATIENCE", 0.0)
    with pytest.raises(CannotBeDoneError, match="Slurm does not answer"):
        launching.follow(run, lambda _piece: None, lambda _line: None)
    with pytest.raises(CannotBeDoneError, match="Slurm does not answer"):
        launching.resumed(run)


def test_a_job_that_slurm_forgot_is_as_its_script_wrote(slurm_says):
    run = slurm_says("silent", "forgotten")
    assert launching.follow(run, lambda _piece: None, lambda _line: None).state == "completed"
    assert launching.cancelled(run).state == "completed"


def test_a_letter_that_comes_in_two_pieces_is_shown_whole(slurm_says):
    run = slurm_says("running", "completed")
    texts, pieces, screen = iter(("é".encode()[:1], "époque".encode())), [], io.StringIO()
    show = launch_report.shown_on(screen)

    def tell(_line):
        (run.folder / "log.txt").write_bytes(next(texts))

    launching.follow(run, lambda piece: show(piece) or pieces.append(piece), tell)
    assert pieces == ["é".encode()[:1], "époque".encode()[1:]]
    assert screen.getvalue() == "époque"
