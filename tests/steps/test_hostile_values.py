"""No value of a parameter becomes an option, another file, another line or a program, whatever it is."""

import os
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import holes, plain

from each import over
from rigup.steps import StepError, make, step_kinds

_HOSTILE = (
    "-x",
    "--flag",
    "--option=value",
    "; rm -rf /",
    "$(id)",
    "`id`",
    "a b",
    "a\nb",
    "a\r",
    "a\tb",
    "'",
    '"',
    '" "LD_PRELOAD=/tmp/x.so',
    "\\",
    "%h",
    "{name}",
    "{path}",
    "../../etc/passwd",
    "/etc/../root/.bashrc",
    "a/b",
    "a,--flag",
    "*",
    "?",
    "~",
    "|",
    "&&",
    ">x",
    "<x",
    "\x00",
    "\x1b[31m",
    "é",
    "\u202e",
    "@install",
    "a=b",
    "#",
    " ",
    "x" * 5000,
)
VALUES = st.one_of(st.sampled_from(_HOSTILE), st.text(max_size=40), st.builds("".join, st.lists(st.sampled_from(_HOSTILE), max_size=3)))


@st.composite
def hostile_params(draw, kind):
    """Some of a kind's parameters hostile, the others plain."""
    names = sorted(holes(kind))
    chosen = draw(st.sets(st.sampled_from(names))) if names else set()
    return {**plain(kind), **{name: draw(VALUES) for name in chosen}}


@pytest.mark.long
@over([name for name, kind in step_kinds().items() if kind.commands or kind.undo or kind.writes])
def test_a_step_is_refused_or_every_value_stays_one_word_in_its_place(name):
    tried = given(hostile_params(step_kinds()[name]))(lambda params: _stays_in_its_place(name, params))
    settings(max_examples=25)(tried)()


def _stays_in_its_place(name, params):
    kind = step_kinds()[name]
    try:
        step = make(name, params, distribution="debian")
    except StepError:
        return
    for argv in (*step.commands, *(step.undo or ())):
        assert argv[0]
        assert not argv[0].startswith("-")
        assert all("\x00" not in word for word in argv)
        assert not step.root or all("\n" not in word.replace(_script(argv), "") for word in argv)
        if argv[:2] == ("sh", "-c"):
            assert argv[2] in {given[2] for given in (*kind.commands, *(kind.undo or ())) if given[:2] == ("sh", "-c")}
    for path in step.writes:
        assert not path.startswith("-")
        assert not step.root or (path.startswith("/") and "/../" not in path + "/")


def _script(argv):
    return argv[2] if argv[:2] == ("sh", "-c") else "\n\n"


@over([name for name, kind in step_kinds().items() if kind.root and kind.commands])
def test_what_root_runs_takes_no_option_no_way_up_and_no_second_line(name):
    kind = step_kinds()[name]
    words = [word for argv in (*kind.commands, *(kind.undo or ())) for word in argv]
    used = {hole for word in words for hole in re.findall(r"\{(\w+)[*|]?\}", word)}
    for value in ("-x", "--purge", "../../x", "a\nb", "x\x00y"):
        for param in used - ({"value"} if value.isprintable() else set()):  # a number may be negative
            with pytest.raises(StepError):
                make(name, {**plain(kind), param: value}, distribution="debian")


def test_a_refusal_names_the_step_the_parameter_and_the_value():
    with pytest.raises(StepError, match=r"service-variable.*--now.*service"):
        make("service-variable", {"service": "--now", "name": "A", "value": "1"})


@pytest.mark.parametrize("value", ["10.3.0", "gfx1030:2", "a b", "/opt/rocm/lib:/x", "it's"])
def test_an_honest_value_is_not_refused(value):
    step = make("service-variable", {"service": "ollama", "name": "A", "value": value})
    assert value in step.commands[1]


LINES = st.lists(
    st.sampled_from(
        [
            "export A=1",
            "A=2",
            "  export A='x y'",
            "set -gx A 3",
            "export AB=1",
            "export B=$A",
            "# export A=9",
            "echo A=1",
            "",
            "é\t\\x",
            "B=1",
        ]
    ),
    max_size=8,
)
_TAKEN = re.compile(r"[ \t]*(?:export[ \t]+)?A=|[ \t]*set -gx A ")


def _run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.skipif(os.name == "nt", reason="these steps are taken on Linux")
@settings(max_examples=25)
@given(lines=LINES)
def test_a_variable_is_taken_out_of_a_file_and_put_in_again(lines, tmp_path_factory):
    file = tmp_path_factory.mktemp("of a person's $HOME") / "-rc file"
    before = "".join(line + "\n" for line in lines)
    file.write_text(before)
    file.chmod(0o640)
    step = make("take-out-variable", {"name": "A", "file": str(file)})
    _run(step.commands[0])
    told = file.read_text().splitlines()
    assert told == ["# taken out by rigup: " + line if _TAKEN.match(line) else line for line in lines]
    assert file.stat().st_mode & 0o777 == 0o640
    _run(step.undo[0])
    assert file.read_text() == before


@pytest.mark.skipif(os.name == "nt", reason="these steps are taken on Linux")
def test_a_folder_is_taken_out_of_the_loaders_list(tmp_path):
    file = tmp_path / "cuda.conf"
    file.write_text("/usr/local/cuda/lib64/stubs/\n/usr/local/cuda/lib64\n /usr/local/cuda/lib64/stubs\n")
    step = make("take-out-loader-path", {"path": "/usr/local/cuda/lib64/stubs", "file": str(file)})
    assert step.root
    _run(step.commands[0])
    kept = [line for line in file.read_text().splitlines() if not line.startswith("# taken out by rigup: ")]
    assert kept == ["/usr/local/cuda/lib64"]
