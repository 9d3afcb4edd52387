"""What a program gets in an environment; what shells, services and files are told."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.environments import record, running, shells
from rigup.plan.environments.devices import needed
from rigup.plan.environments.folder import environment_at
from rigup.plan.environments.running import Setting, Surroundings, activated, merged
from rigup.stack.profile import read_profile

ODD = [
    "plain",
    "a b",
    "it's",
    'say "x"',
    "$HOME",
    "`touch x`",
    "a\\b",
    "100%",
    "!history",
    "*",
    "ünï 环境",
    "-n",
    "~",
    "",
    " x ",
    "a;b",
    "\\",
    "'\\''",
]


def told(**variables):
    return Surroundings(variables=tuple(Setting(name, value, "") for name, value in variables.items()), path=("/env dir/bin", "/two"))


# -- variables ---------------------------------------------------------------------------------------


def test_the_environments_record_goes_over_what_the_devices_need(made, tmp_path):
    from rigup.plan.environments import staged_swap

    staged_swap.clone(made, tmp_path / "env")
    record.write(tmp_path / "env", record.Record(variables={"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}))
    found = activated(environment_at(tmp_path / "env"), [Setting("HSA_OVERRIDE_GFX_VERSION", "10.3.0", "x"), Setting("OTHER", "1", "x")])
    values = merged(found, {"PATH": "/usr/bin", "PYTHONHOME": "/x", "CONDA_PREFIX": "/y", "HOME": "/root"})
    assert values["HSA_OVERRIDE_GFX_VERSION"] == "11.0.0"
    assert values["OTHER"] == "1"
    assert values["VIRTUAL_ENV"] == str(tmp_path / "env")
    assert values["PATH"] == f"{tmp_path / 'env' / 'bin'}:/usr/bin"
    assert values["HOME"] == "/root"
    assert not {"PYTHONHOME", "CONDA_PREFIX"} & values.keys()


def test_what_was_kept_for_another_machines_devices_is_passed_by(made, tmp_path):
    from rigup.plan.environments import staged_swap

    staged_swap.clone(made, tmp_path / "env")
    kept = {
        "HSA_OVERRIDE_GFX_VERSION": "11.0.0",
        "HSA_OVERRIDE_GFX_VERSION_1": "11.0.0",
        "ROCR_VISIBLE_DEVICES": "1",
        "OMP_NUM_THREADS": "8",
    }
    record.write(tmp_path / "env", record.Record(variables=kept))
    here = [Setting("HSA_OVERRIDE_GFX_VERSION", "10.3.0", "x")]
    values = merged(activated(environment_at(tmp_path / "env"), here, alien=True), {})
    assert {name: values[name] for name in values if name in kept} == {"HSA_OVERRIDE_GFX_VERSION": "10.3.0", "OMP_NUM_THREADS": "8"}


def test_which_devices_are_seen_stays_as_a_scheduler_has_set_it():
    found = told(ROCR_VISIBLE_DEVICES="0", HSA_OVERRIDE_GFX_VERSION="10.3.0")
    values = merged(found, {"ROCR_VISIBLE_DEVICES": "3", "HSA_OVERRIDE_GFX_VERSION": "9.0.0"})
    assert (values["ROCR_VISIBLE_DEVICES"], values["HSA_OVERRIDE_GFX_VERSION"]) == ("3", "10.3.0")
    assert merged(found, {"ROCR_VISIBLE_DEVICES": "3"}, {"ROCR_VISIBLE_DEVICES": "1"})["ROCR_VISIBLE_DEVICES"] == "1"


def test_a_folder_stands_once_on_a_path_and_none_is_made_of_nothing():
    found = Surroundings(path=("/a",), libraries=(Setting("LD_LIBRARY_PATH", "/l", ""),))
    assert merged(found, {"PATH": "/b:/a"})["PATH"] == "/a:/b"
    assert merged(found, {"PATH": "/b"})["LD_LIBRARY_PATH"] == "/l"
    assert merged(found, {"PATH": "", "LD_LIBRARY_PATH": "/m:/l"})["LD_LIBRARY_PATH"] == "/l:/m"
    assert merged(found, {"PATH": ""})["PATH"] == "/a"


def test_an_override_is_worked_out_for_a_card_that_needs_one_and_for_no_other():
    card = read_profile("Radeon 680M, ubuntu 24.04, python 3.12")
    assert [one.name for one in needed(card.but(installed={"torch": "2.6.0+rocm6.2.4"}))] == ["HSA_OVERRIDE_GFX_VERSION"]
    assert needed(card.but(installed={"torch": "2.14.0+rocm10.1.0"})) == []
    assert needed(read_profile("RTX 3060, driver 580.95.05, ubuntu 24.04, python 3.12")) == []
    assert needed(read_profile("no gpu, debian 12, python 3.11")) == []


# -- running -----------------------------------------------------------------------------------------

RUNNER = """
import os, sys
from rigup.plan.environments.running import run
sys.exit(run(sys.argv[1:], dict(os.environ)))
"""


def child(*command, **more):
    return subprocess.run([sys.executable, "-c", RUNNER, *command], capture_output=True, text=True, check=False, timeout=60, **more)


@pytest.mark.parametrize("status", [0, 1, 3, 255])
def test_the_exit_status_is_the_programs_own(status):
    assert child("sh", "-c", f"exit {status}").returncode == status


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_signals_are_the_programs_own():
    assert child("sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    shown = child("sh", "-c", "yes | head -n 1; trap")
    assert (shown.stdout, shown.stderr) == ("y\n", "")
    ignored = child(sys.executable, "-c", "import signal; print(int(signal.getsignal(signal.SIGPIPE)))")
    assert ignored.returncode == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_no_signal_is_left_ignored():
    lines = dict(line.split(":", 1) for line in child("cat", "/proc/self/status").stdout.splitlines())
    assert int(lines["SigIgn"], 16) & (1 << (signal.SIGPIPE - 1)) == 0


def test_a_program_that_is_not_there_ends_as_in_a_shell(tmp_path):
    done = child("no-such-program-here")
    assert (done.returncode, "no-such-program-here is not found." in done.stderr) == (127, True)
    (tmp_path / "x").write_text("x")
    assert child(str(tmp_path / "x")).returncode == 126


@pytest.mark.parametrize("word", ODD)
def test_words_reach_the_program_as_they_are(word):
    assert child(sys.executable, "-c", "import sys; print(sys.argv[1], end='')", word).stdout == word


# -- shells ------------------------------------------------------------------------------------------

POSIX = ["sh", "bash", "zsh", "dash", "busybox"]
SHOW = "import os; print('|'.join(os.environ.get(n, '-') for n in ('V', 'PATH', 'GONE', 'LD_LIBRARY_PATH')), end='')"


def evaluated(shell, found, tmp_path, home, **variables):
    """What a program sees that the shell starts behind the lines."""
    words = {"busybox": ["busybox", "sh"], "csh": ["tcsh", "-f"], "fish": ["fish", "--no-config"]}.get(shell, [shell])
    if not shutil.which(words[0]):
        pytest.skip(f"{shell} is not installed")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SHOW": SHOW, "GONE": "x", "LANG": "C.UTF-8", **variables}
    script = shells.exports(found, shell if shell in shells.SHELLS else "sh", env)
    (tmp_path / "lines").write_text(script)
    start = {"csh": 'eval "`cat lines`"', "fish": "source lines"}.get(shell, 'eval "$(cat lines)"')
    command = f'{start}\n{sys.executable} -c "$SHOW"\n' if shell != "csh" else f"{start}\n{sys.executable} show.py\n"
    (tmp_path / "show.py").write_text(SHOW)
    (tmp_path / "script").write_text(command)
    done = subprocess.run([*words, "script"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.stdout.split("|")


@pytest.mark.parametrize("shell", [*POSIX, "fish", "csh"])
@pytest.mark.parametrize("value", ODD)
def test_a_shell_reads_a_value_as_it_is(shell, value, tmp_path, tmp_path_factory):
    found = Surroundings((Setting("V", value, ""),), ("GONE",), ("/env dir/bin",), (Setting("LD_LIBRARY_PATH", "/l", ""),))
    seen = evaluated(shell, found, tmp_path, tmp_path_factory.mktemp("home"))
    assert seen == [value, "/env dir/bin:/usr/bin:/bin", "-", "/l"]
    assert sorted(os.listdir(tmp_path)) == ["lines", "script", "show.py"]


@pytest.mark.parametrize("shell", [*POSIX, "fish", "csh"])
def test_a_folder_of_libraries_goes_before_those_that_were_there(shell, tmp_path, tmp_path_factory):
    found = Surroundings(libraries=(Setting("LD_LIBRARY_PATH", "/l", ""),))
    assert evaluated(shell, found, tmp_path, tmp_path_factory.mktemp("home"), LD_LIBRARY_PATH="/m")[3] == "/l:/m"


def test_powershell_is_told_in_its_own_quotes():
    lines = shells.exports(told(V="it's ’x’"), "powershell", {}).splitlines()
    assert lines[0] == "$env:V = 'it''s ’’x’’'"
    assert lines[1].startswith("$env:PATH = '/env dir/bin")


@pytest.mark.parametrize(
    ("variables", "shell"),
    [
        ({"SHELL": "/usr/bin/fish"}, "fish"),
        ({"SHELL": "/bin/tcsh"}, "tcsh"),
        ({"SHELL": "/bin/bash"}, "bash"),
        ({}, "sh"),
        ({"PSModulePath": "x"}, "powershell"),
        ({"SHELL": "/opt/odd"}, "sh"),
        ({"SHELL": r"C:\Program Files\Git\bin\bash.exe"}, "bash"),
    ],
)
def test_the_persons_shell_is_told_by_its_variable(variables, shell):
    assert shells.shell_of(variables) == shell


@given(st.text(max_size=60))
def test_no_value_ends_its_quotes(value):
    import shlex

    plain = value.replace("\0", "")
    assert shlex.split(shells.exports(told(V=plain), "sh", {}).split("\nexport PATH")[0], comments=False)[-1] == "V=" + plain


# -- services and files ------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("word", [word for word in ODD if word])
def test_systemd_understands_the_unit(word, tmp_path):
    (tmp_path / "my folder 50%").mkdir()
    text = shells.unit("trial", {"V": word, "PATH": "/usr/bin"}, ["/bin/echo", word], str(tmp_path / "my folder 50%"))
    (tmp_path / "trial.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "trial.service")], capture_output=True, text=True, check=False, timeout=60
    )
    assert "trial.service" not in done.stderr, done.stderr


def test_a_unit_holds_no_line_that_a_value_brings():
    with pytest.raises(shells.CannotTell):
        shells.unit("x", {"V": "a\nExecStartPre=/bin/evil"}, ["/bin/true"], "/")
    with pytest.raises(shells.CannotTell):
        shells.unit("x", {}, ["/bin/true", "a\nb"], "/")


def test_dollars_and_percents_are_no_specifiers_of_a_unit():
    text = shells.unit("x", {"V": "50%"}, ["/bin/echo", "$HOME", "%h"], "/")
    assert 'Environment="V=50%%"' in text
    assert 'ExecStart="/bin/echo" "$$HOME" "%%h"' in text


def test_without_a_command_it_is_a_drop_in():
    assert shells.unit("x", {"V": "a"}, [], "/") == '[Service]\nEnvironment="V=a"\n'


@pytest.mark.parametrize("value", [value for value in ODD if "'" not in value])
def test_a_shell_reads_a_dotenv_file_as_it_is(value, tmp_path):
    (tmp_path / ".env").write_text(shells.dotenv({"V": value}))
    done = subprocess.run(["sh", "-c", '. ./.env; printf %s "$V"'], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == value


def test_a_dotenv_file_holds_no_value_that_its_readers_take_differently():
    with pytest.raises(shells.CannotTell):
        shells.dotenv({"V": "it's"})
    with pytest.raises(shells.CannotTell):
        shells.dotenv({"V": "a\nB=c"})


def test_running_needs_no_facts_to_be_imported():
    done = subprocess.run(
        [sys.executable, "-c", "import rigup.plan.environments.running, sys; print('rigup.machine.readers' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "False\n"
    assert running.program(["sh"], {"PATH": "/bin:/usr/bin"}).endswith("sh")
