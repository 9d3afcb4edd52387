"""A program under `rigup doctor --` on a real terminal: nothing that it sees or that a person sees is different."""

import os
import shutil
import signal
import sys

import pytest
from programs import DOCTOR, Terminal, python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX systems")
SIZE = "import os; print('size', *os.get_terminal_size())"


@pytest.fixture
def terminal():
    opened = []

    def make(*argv, **more):
        opened.append(Terminal([str(word) for word in argv], **more))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def doctor(*program):
    return (*DOCTOR, "--", *program)


def test_all_three_are_terminals(terminal):
    told = terminal(*doctor(*python("import os; print('are', *(os.isatty(n) for n in (0, 1, 2)))")))
    told.until(rb"are True True True")
    assert told.finish() == 0


def test_what_is_redirected_is_no_terminal(terminal, tmp_path):
    script = "import os, sys; print('out', os.isatty(1)); print('err', os.isatty(2), file=sys.stderr); sys.stdout.flush()"
    command = f'exec "$@" 2>{tmp_path}/err'
    told = terminal("sh", "-c", command, "sh", *doctor(*python(script)))
    told.until(rb"out True")
    assert told.finish() == 0
    assert (tmp_path / "err").read_text() == "err False\n"


def test_progress_on_standard_error_stays_on_a_terminal_when_output_is_piped(terminal, tmp_path):
    script = "import os, sys; print('out', os.isatty(1)); print('err', os.isatty(2), os.get_terminal_size(2).columns, file=sys.stderr)"
    told = terminal("sh", "-c", f'exec "$@" >{tmp_path}/out', "sh", *doctor(*python(script)))
    told.until(rb"err True 100")
    assert told.finish() == 0
    assert (tmp_path / "out").read_text() == "out False\n"


def test_the_size_is_ours_and_follows(terminal):
    waits = (
        "import os, signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH]); s = " + repr(SIZE) + "; exec(s)\n"
        "while os.get_terminal_size().columns != 50: signal.sigwait([signal.SIGWINCH])\n"
        "exec(s); input()"
    )
    told = terminal(*doctor(*python(waits)), size=(31, 97))
    told.until(rb"size 97 31")
    told.resize(20, 50)
    told.until(rb"size 50 20")
    told.type(b"\n")
    assert told.finish() == 0


def test_colours_and_progress_bars_are_untouched(terminal):
    script = "import sys; sys.stdout.write('\\x1b[31mred\\x1b[0m'); [sys.stdout.write(f'\\r{n}%') for n in range(3)]; print()"
    told = terminal(*doctor(*python(script)))
    assert told.finish() == 0
    assert told.said == b"\x1b[31mred\x1b[0m\r0%\r1%\r2%\r\n"


def test_ctrl_c_reaches_the_program_alone(terminal):
    script = (
        "import time\ntry:\n print('ready', flush=True); time.sleep(50)\nexcept KeyboardInterrupt:\n print('caught'); raise SystemExit(5)"
    )
    told = terminal(*doctor(*python(script)))
    told.until(rb"ready")
    told.type(b"\x03")
    told.until(rb"caught")
    assert told.finish() == 5


def test_a_program_that_ctrl_c_ends_is_not_diagnosed(terminal):
    told = terminal(*doctor("sh", "-c", "echo ready; exec sleep 50"))
    told.until(rb"ready")
    told.type(b"\x03")
    assert told.finish() == -2
    assert b"rigup" not in told.said


def test_a_password_is_asked_for_without_an_echo(terminal):
    script = "import getpass; word = getpass.getpass('Password: '); print('length', len(word))"
    told = terminal(*doctor(*python(script)))
    told.until(rb"Password: ")
    told.type(b"open sesame\n")
    told.until(rb"length 11")
    assert b"sesame" not in told.before
    assert told.finish() == 0


def test_keys_reach_a_program_that_reads_them_one_by_one(terminal):
    script = "import sys, tty, termios; tty.setraw(0); print('ready', end='', flush=True); k = sys.stdin.read(2); print(repr(k)); raise SystemExit(3)"
    told = terminal(*doctor(*python(script)))
    told.until(rb"ready")
    told.type(b"\x03x")
    told.until(rb"'\\x03x'")
    assert told.finish() == 3


def test_the_terminal_is_left_as_it_was(terminal):
    told = terminal("sh", "-c", 'stty -g; "$@"; stty -g', "sh", *doctor("sh", "-c", "stty raw -echo"))
    first = told.until(rb"([0-9a-f:]{20,})\r?\n")[1]
    second = told.until(rb"([0-9a-f:]{20,})\r?\n")[1]
    assert first == second
    assert told.finish() == 0


@pytest.mark.skipif(not shutil.which("bash"), reason="a shell with job control is needed")
def test_it_stops_and_goes_on_like_any_job(terminal, tmp_path):
    program = tmp_path / "job.py"
    program.write_text("print('one', flush=True)\ninput()\nprint('two', flush=True)\n")
    told = terminal("bash", "--norc", "--noprofile", "-i", PS1="ask> ", HISTFILE="/dev/null")
    told.until(rb"ask> ")
    told.type(f"{' '.join(DOCTOR)} -- {sys.executable} {program}\n".encode())
    told.until(rb"one\r\n")  # the line that was typed may hold the word
    told.type(b"\x1a")
    told.until(rb"Stopped")
    told.until(rb"ask> ")
    told.type(b"stty -a; fg\n")
    assert b"-icanon" not in told.until(rb"speed [^#]{0,2000}?rigup")[0]  # the shell has its terminal as ever
    told.type(b"\n")
    told.until(rb"two")
    told.until(rb"ask> ")
    told.type(b"echo left $?\n")
    told.until(rb"left 0")
    told.type(b"exit\n")
    told.finish()


@pytest.mark.skipif(not shutil.which("bash"), reason="a shell with job control is needed")
def test_it_works_in_the_background(terminal):
    told = terminal("bash", "--norc", "--noprofile", "-i", PS1="ask> ", HISTFILE="/dev/null")
    told.until(rb"ask> ")
    told.type((" ".join(DOCTOR) + " -- sh -c 'sleep 0.3; echo be''hind' & wait $!; echo left $?\n").encode())
    told.until(rb"behind")
    told.until(rb"left 0")
    told.type(b"exit\n")
    told.finish()


def test_what_the_program_died_of_is_told_below_its_own_words(terminal):
    told = terminal(*doctor(*python("import sys; print('my words'); sys.exit(9)")))
    assert told.finish() == 9
    words = told.said.decode()
    assert words.index("my words") < words.index("ended with status 9")


def test_large_pastes_and_large_output_do_not_lock(terminal):
    script = "import sys\nfor line in sys.stdin:\n print(line.strip() * 40)\n if line == 'end\\n': break"
    told = terminal(*doctor(*python(script)))
    for _count in range(300):
        told.type(b"x" * 60 + b"\n")
        told._read()
    told.type(b"end\n")
    told.until(rb"(?:end){40}")
    assert told.finish() == 0


def test_a_grandchild_that_holds_the_terminal_does_not_hold_us(terminal):
    told = terminal(*doctor("sh", "-c", "trap '' HUP; sleep 40 & echo done; exit 4"))
    told.until(rb"done")
    told.until(rb"ended with status 4")
    assert told.finish() == 4


def test_what_was_typed_ahead_is_the_programs(terminal):
    told = terminal("sh", "-c", 'echo type; sleep 0.5; exec "$@"', "sh", *doctor(*python("print('read', repr(input()))")))
    told.until(rb"type")
    told.type(b"ahead\n")
    told.until(rb"read 'ahead'")
    assert told.finish() == 0


COUNTS = (
    "import os, signal, sys, time\n"
    "said = []\n"
    "for name in ('SIGINT', 'SIGQUIT', 'SIGWINCH', 'SIGTERM'): signal.signal(getattr(signal, name), lambda n, _: said.append(n))\n"
    "os.write(2, b'ready\\n')\n"
    "while len(said) < 1: signal.pause()\n"
    "time.sleep(0.5)\n"  # a second one would come now
    "os.write(2, b'heard ' + b' '.join(b'%d' % n for n in sorted(said)) + b'.\\n')\n"
)
REDIRECTED = {"on the terminal": "", "piped": "| cat >/dev/null", "in a file": ">/dev/null", "without keys": "</dev/null"}


@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT", "SIGWINCH", "SIGTERM"])
@pytest.mark.parametrize("where", sorted(REDIRECTED))
def test_what_another_program_sends_reaches_it_as_it_would_reach_what_run_becomes(terminal, tmp_path, name, where):
    """A scheduler or a supervisor knows our process alone; a terminal's keys reach the program by themselves."""
    command = f'sh -c \'echo $$ >{tmp_path}/pid; exec "$@"\' sh "$@" {REDIRECTED[where]}'
    told = terminal("sh", "-c", command, "sh", *doctor(*python(COUNTS)))
    told.until(rb"ready")
    os.kill(int((tmp_path / "pid").read_text()), getattr(signal, name))
    told.until(rb"heard %d\." % getattr(signal, name))
    assert told.finish() == 0


@pytest.mark.parametrize(("key", "name"), [(b"\x03", "SIGINT"), (b"\x1c", "SIGQUIT")])
@pytest.mark.parametrize("where", ["on the terminal", "piped", "in a file"])
def test_a_key_reaches_it_once(terminal, key, name, where):
    told = terminal("sh", "-c", f'trap : INT QUIT; "$@" {REDIRECTED[where]}', "sh", *doctor(*python(COUNTS)))
    told.until(rb"ready")
    told.type(key)
    told.until(rb"heard %d\." % getattr(signal, name))
