"""How scripts are read: directives, shell words, values; and files that somebody made to break it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.train.check.answer import mended
from rigup.train.check.check import Files, judged
from rigup.train.check.cluster import ClusterError, partitions_of
from rigup.train.check.directives import header
from rigup.train.check.found import Change
from rigup.train.check.job import job_of
from rigup.train.check.numbers import minutes
from rigup.train.check.python.files import hydra_value
from rigup.train.check.python.modules import UnreadableError, modules_of
from rigup.train.check.python.program import Program
from rigup.train.check.python.values import UNKNOWN_VALUE, Place, Value
from rigup.train.check.shell.reading import Reader
from rigup.train.check.shell.words import UNKNOWN
from train.check.pairs import DDP, LIGHTNING, ONE, batch, causes, found


def head(*lines):
    return header("\n".join(["#!/bin/bash", *lines, "python train.py", ""]))


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("#SBATCH -N2 -n4 -t 5", {"nodes": "2", "ntasks": "4", "time": "5"}),
        ("#SBATCH --nodes=2 # x", {"nodes": "2"}),
        ("#SBATCH--nodes=2", {"nodes": "2"}),
        ("#SBATCH --gres gpu:2", {"gres": "gpu:2"}),
        ("#SBATCH --exclusive --mem=0", {"exclusive": None, "mem": "0"}),
        ("#SBATCH --tasks-per-node=2", {"ntasks-per-node": "2"}),
        ("#SBATCH --cpus-per-t=2", {"cpus-per-task": "2"}),
        ("#SBATCH --job-name 'a b'", {"job-name": "a b"}),
    ],
)
def test_directives_that_count(line, options):
    read = head(line)
    assert ({each.name: each.value for each in read.taken}, read.ignored) == (options, ())


def test_a_directive_goes_on_behind_a_backslash():
    read = head("#SBATCH --nodes=2 \\", "#SBATCH --ntasks=4")
    assert {each.name: each.value for each in read.taken} == {"nodes": "2", "ntasks": "4"}


@pytest.mark.parametrize(
    ("line", "why", "meant"),
    [
        ("# SBATCH --gres=gpu:2", "comment", "#SBATCH --gres=gpu:2"),
        (" #SBATCH --nodes=2", "comment", "#SBATCH --nodes=2"),
        ("#sbatch --nodes=2", "comment", "#SBATCH --nodes=2"),
        ("SBATCH --nodes=2", "comment", "#SBATCH --nodes=2"),
        ("#SBATCH -output=x", "misread", "#SBATCH --output=x"),
        ("#SBATCH -partition=gpu", "misread", "#SBATCH --partition=gpu"),
        ("#SBATCH --ntasks_per_node=4", "refused", "#SBATCH --ntasks-per-node=4"),
        ("#SBATCH --nodes = 2", "refused", "#SBATCH --nodes=2"),
        ("#SBATCH --nodes= 2", "refused", "#SBATCH --nodes=2"),
        ("#SBATCH -N=2", "refused", "#SBATCH -N 2"),
        ("#SBATCH -nodes=2", "refused", "#SBATCH --nodes=2"),
        ("#SBATCH -gres=gpu:1", "refused", "#SBATCH --gres=gpu:1"),
        ("#SBATCH \u2014nodes=2", "refused", "#SBATCH --nodes=2"),
        ("#SBATCH nodes=2", "refused", "#SBATCH --nodes=2"),
        ("#SBATCH --cpu-per-task=4", "refused", "#SBATCH --cpus-per-task=4"),
    ],
)
def test_directives_that_do_not(line, why, meant):
    read = head(line)
    assert [(each.why, each.meant, each.line) for each in read.ignored] == [(why, meant, 2)]
    assert read.taken == ()


def test_lines_that_are_no_directives():
    for line in ("##SBATCH --nodes=2", "# SBATCH lines are fine", "# about #SBATCH", "#SBATCHER"):
        assert head(line).ignored == ()
    assert head("#SBATCH --nodes=2", "# SBATCH --nodes=4").ignored == ()


def test_line_ends_of_windows_and_no_first_line():
    assert [each.why for each in header("#!/bin/bash\r\n#SBATCH --nodes=2\r\n").ignored] == ["refused"]
    assert [each.line for each in header("#SBATCH --nodes=2\npython x.py\n").ignored] == [1]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("90", 90),
        ("1:30", 1.5),
        ("01:30:00", 90),
        ("2-0", 2880),
        ("1-12:30", 2190),
        ("0-01:30:30", 90.5),
        ("UNLIMITED", float("inf")),
        ("x", None),
        ("$T", None),
    ],
)
def test_time_limits(text, limit):
    assert minutes(text) == limit


@pytest.mark.parametrize(
    ("options", "tasks", "gpus"),
    [
        ("-N 2 -n 8", None, 0),
        ("-N 2 --ntasks-per-node=4 --gres=gpu:a100:4", 4, 4),
        ("--gpus=8 -N 2", 1, 4),
        ("--gpus=5 -N 2", 1, None),
        ("-N 1 -n 4 --gpus-per-task=1", 4, 4),
        ("-n 4", None, 0),
        ("--gpus-per-node=l40:2", 1, 2),
        ("-N 2 -n 2", 1, 0),
        ("--gres=gpu", 1, 1),
        ("--gres=shard:2", 1, 0),
        ("--gres=gpu:2,shard:1", 1, 2),
        ("-G 3", 1, 3),
        ("-N 1-4", 1, 0),
    ],
)
def test_what_a_job_has(options, tasks, gpus):
    read = head("#SBATCH " + options)
    job = job_of(read.taken, "job", False)
    assert (job.tasks_per_node, job.gpus_per_node) == (tasks, gpus)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("N=4\nrun $N ${N} $((N*2)) ${X:-7} '$N' \"a $N\"", ["run", "4", "4", "8", "7", "$N", "a 4"]),
        ("run $(hostname) `date`", ["run", UNKNOWN, UNKNOWN]),
        ("A='x y'\nrun $A \"$A\"", ["run", "x", "y", "x y"]),
        ("if true; then N=4; fi\nrun $N", ["run", UNKNOWN]),
        ("N=a.py\nrun ${N%.py}", ["run", "a"]),
        ("f() { run $1; }\nf", ["run", UNKNOWN]),
        ("N=(a b)\nrun ${N[0]}", ["run", "a"]),
    ],
)
def test_words_of_a_shell(text, words):
    script = Reader("job", {"X": ""}.get).read(text)
    assert [word.text for word in next(each for each in script.commands if each.name == "run").words] == words


def test_values_of_a_script():
    text = (
        "import argparse, yaml, os\nfrom mine import DEFAULT\np = argparse.ArgumentParser()\np.add_argument('--a', type=int, default=3)\np.add_argument('-b', '--bee', type=int)\n"
        "args = p.parse_args()\ncfg = yaml.safe_load(open('c.yaml'))\ndef half(n): return n // 2\nshow(args.a, args.bee, cfg['x']['y'], half(args.a * 4), DEFAULT + 1, os.environ['WHO'])\n"
    )
    siblings = {"mine.py": "DEFAULT = 6\n", "c.yaml": "x:\n  y: 5\n"}.get
    program = Program(modules_of("train.py", text, siblings), lambda _name: UNKNOWN_VALUE, siblings, [])
    site = next(program.named("show"))
    assert [value.const for value in site.values()][:2] == [3, None]
    assert [value.number for value in site.values()][2:] == [5, 6, 7, None]


def test_a_number_of_a_yaml_file_is_told_of_there():
    script = LIGHTNING.replace("num_workers=2", 'num_workers=cfg["workers"]').replace(
        "import lightning as L", "import lightning as L, yaml\ncfg = yaml.safe_load(open('c.yaml'))"
    )
    job = batch("srun python train.py", options=("--ntasks-per-node=4", "--gpus-per-node=4", "--cpus-per-task=4"))
    assert [(each.file, each.line) for each in found(script, job, beside={"c.yaml": "a: 1\nworkers: 30\n"})] == [("c.yaml", 2)]


def test_an_excerpt_is_read():
    assert causes("".join("    " + line + "\n" for line in ONE.split("\n") if line), batch("python train.py", options=("--ntasks=1",))) == {
        "slurm-no-gpu-requested"
    }


def test_hydra():
    script = DDP.replace("def main():", "import hydra\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):").replace(
        "num_workers=2", "num_workers=cfg.data.workers"
    )
    siblings = {"conf/base.yaml": "defaults:\n  - data: big\n", "conf/data/big.yaml": "workers: 30\n"}
    job = batch("torchrun --standalone --nproc_per_node=4 train.py")
    assert causes(script, job, beside=siblings) == {"workers-exceed-cpus"}
    assert causes(script, job.replace("train.py", "train.py data.workers=2"), beside=siblings) == set()


def test_modules_that_import_each_other():
    siblings = {"a.py": "from b import X\nfrom b import *\nY = X\n", "b.py": "from a import Y\nfrom a import *\nX = Y\n"}
    assert causes("from a import X, Y\nfrom b import *\nZ = X + Y\nprint(Z)\n", beside=siblings) == set()


@pytest.mark.parametrize(
    "text", ["x = " + "(" * 300 + ")" * 300, "def f(:", "a\0b", "x = " + "-" * 20000 + "1", "print 'python 2'", "x" * 3_000_000]
)
def test_python_that_cannot_be_read(text):
    with pytest.raises(UnreadableError):
        modules_of("train.py", text, lambda _name: None)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "+".join("1" * 400),
        "x = " + "[" * 80 + "]" * 80,
        "\n".join(f"x{i} = x{i - 1} + x{i - 1}" for i in range(1, 400)) + "\nprint(x399)",
        "x = 9 ** 9 ** 9\nx = 'a' * 10 ** 9\nprint(x)",
        "f = lambda: f()\nf()\n",
    ],
)
def test_python_that_is_hard_to_follow(text):
    assert causes(text, batch("python train.py", options=("--ntasks=1",))) == set()


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "#SBATCH -N",
                "--nodes=",
                "$(",
                "'",
                '"',
                "srun ",
                "bash -c ",
                "python train.py",
                "&",
                "\n",
                "<<EOF",
                "${",
                "$((",
                "if ",
                "-n 4 ",
                "\\\n",
                "\0",
            ]
        ),
        max_size=30,
    ),
)
def test_any_batch_script_is_read(text, parts):
    job = "#!/bin/bash\n" + "".join(parts) + text
    files = Files(script="train.py", text=ONE, beside=lambda _name: None, batch="job", batch_text=job)
    assert all(each.line >= 0 for each in judged(files, {}).findings)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=400))
def test_any_description_of_a_cluster_is_one_or_is_refused(text):
    for form in (text, '{"partitions": ' + text, '{"partitions": {"a": {"nodes": "' + text.replace('"', "") + '"}}}'):
        try:
            read = partitions_of(form)
        except ClusterError:
            continue
        assert all(name == row.name for name, row in read.items())


def test_clusters_as_slurm_tells_of_them():
    text = (
        "PartitionName=gpu MaxTime=1-00:00:00 State=UP Nodes=a[1-2]\n\nNodeName=a1 CPUTot=64 Gres=gpu:a100:4(S:0) RealMemory=256000 Partitions=gpu\n"
        "NodeName=a2 CPUTot=64 Gres=gpu:a100:4 RealMemory=256000 Partitions=gpu,all\n"
    )
    gpu = partitions_of(text)["gpu"]
    assert (gpu.nodes, gpu.gpus_per_node, gpu.gpu, gpu.cpus_per_node, gpu.minutes) == (2, 4, "a100", 64, 1440)
    rows = '{"sinfo": [{"partition": {"name": "p", "maximums": {"time": {"set": true, "infinite": false, "number": 60}}}, "nodes": {"total": 3}, "gres": {"total": "gpu:l40:4"}, "cpus": {"maximum": 32}, "memory": {"maximum": 1024}}]}'
    row = partitions_of(rows)["p"]
    assert (row.nodes, row.gpus_per_node, row.gpu, row.cpus_per_node, row.memory_gb, row.minutes) == (3, 4, "l40", 32, 1.0, 60)


def test_changes_are_made_from_the_end():
    text = "a\nb\nc\n"
    assert (
        mended(
            text,
            [
                Change(file="", first=2, last=2, lines=("B",)),
                Change(file="", first=1, last=0, lines=("0",)),
                Change(file="", first=4, last=3, lines=("d",)),
            ],
        )
        == "0\na\nB\nc\nd\n"
    )


def test_what_is_mended_is_found_no_more():
    job = batch("#SBATCH --mem=4G", "python train.py", options=("--gpus-per-node=1", "--ntasks=1")).replace(
        "--ntasks=1", "--ntasks=1\n# SBATCH --time=01:00:00"
    )
    findings = found(ONE, job)
    assert {each.cause for each in findings} == {"sbatch-directive-after-command", "sbatch-directive-malformed"}
    assert found(ONE, mended(job, [each.change for each in findings])) == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (('A=(--x "b c")', 'python "${A[@]}" t.py'), ["python", "--x", "b c", "t.py"]),
        (("A=(--x 1)", "A+=(--y 2)", "python ${A[*]} t.py"), ["python", "--x", "1", "--y", "2", "t.py"]),
        (("set -- --x 'b c'", 'python "$@" t.py'), ["python", "--x", "b c", "t.py"]),
        (("set -- a b c", "shift", 'python "${@:2}" "$#"'), ["python", "c", "2"]),
        (('run() { local n=$1; shift; python -n "$n" "$@"; }', "run 4 t.py"), ["python", "-n", "4", "t.py"]),
        (("run() { echo; }", "set -- 5", "run 7", "python $1"), ["python", "5"]),
        (('python -n "${NGPU:-4}"',), ["python", "-n", "4"]),
        ((': "${NGPU:=4}"', "python -n $((NGPU * 2))"), ["python", "-n", "8"]),
        (('python -n "${SLURM_GPUS_ON_NODE:-4}"',), ["python", "-n", UNKNOWN]),
        (("NGPU=$(nproc)", 'python -n "${NGPU:-4}"'), ["python", "-n", UNKNOWN]),
        (('python "$@"',), ["python", UNKNOWN]),
    ],
)
def test_words_of_lists_parameters_and_defaults(lines, words):
    script = Reader("job", lambda _name: None).read("\n".join(lines))
    assert [word.text for word in script.commands[-1].words if script.commands[-1].words[0].text == "python"] == words


def test_the_group_that_a_command_line_chooses_is_read_and_not_laid_over():
    files = {"conf/config.yaml": "defaults:\n  - data: small\n", "conf/data/small.yaml": "n: 2\n", "conf/data/big.yaml": "n: 16\n"}
    value = hydra_value("conf", "config", files.get, {"data": Value(const="big"), "data.m": Value(const=3)})
    data = (value.fields or {})["data"].fields or {}
    assert (data["n"].const, data["n"].place, data["m"].const) == (16, Place(file="conf/data/big.yaml", line=1), 3)


def test_a_configuration_that_is_opened_by_with():
    text = "import yaml\nwith open('c.yaml') as f:\n    conf = yaml.safe_load(f)\nrun(**conf['t'])\n"
    files = {"c.yaml": "t:\n  devices: 4\n"}
    program = Program(modules_of("t.py", text, files.get), lambda _name: UNKNOWN_VALUE, files.get)
    assert [site.argument("devices").const for site in program.named("run")] == [4]


@pytest.mark.parametrize("text", ["--nodes=${\U00106e41", "x {\U000d53ea\U000a39aa!\x8fk\x10\U000f0628]", "echo ${\U0010ffff"])
def test_characters_beyond_a_byte_do_not_end_the_process(text):
    Reader("job", lambda _name: None).read("#!/bin/bash\n" + text)


def test_words_are_as_they_are_written_in_any_script():
    script = Reader("job", lambda _name: None).read('D="данные/à"\npython t.py $D “x” 数据')
    assert [word.text for word in script.commands[-1].words] == ["python", "t.py", "данные/à", "“x”", "数据"]


def test_a_sourced_file_sets_variables_and_functions_with_its_own_lines():
    files = {"env.sh": '# settings\nN=4\nrun() {\n  python -n $N "$@"\n}\nsource env.sh\n'}
    script = Reader("job", lambda _name: None, read_sibling=files.get).read("N=2\n. ./env.sh\nrun t.py")
    last = script.commands[-1]
    assert ([word.text for word in last.words], last.file, last.line) == (["python", "-n", "4", "t.py"], "env.sh", 4)
