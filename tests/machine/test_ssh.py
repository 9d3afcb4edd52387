"""Another machine by OpenSSH: a real server on loopback, with keys of its own."""

import json
import os
import re

import pytest

from answer_data import as_data
from free_ports import free_port
from loopback_ssh import daemon
from rigup.cli import hosts
from rigup.cli import run as command_line
from rigup.cli.hosts import error
from rigup.machine.collect import posix, remote, ssh
from rigup.machine.collect.ssh import Connection, Failure, Limits, cleaned
from rigup.machine.collect.tree import discard
from rigup.workflows.diagnosing import node_of, of_hosts

__all__ = ["daemon"]


def answers(names):
    """What each host answers, as `--json` prints it."""
    return {name: as_data(answer) for name, answer in hosts.answers(names).items()}


@pytest.fixture
def server(daemon, monkeypatch):
    daemon.renew()
    monkeypatch.setenv("PATH", str(daemon.folder / "client") + os.pathsep + os.environ["PATH"])
    monkeypatch.delenv("SSH_ASKPASS", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    yield daemon
    discard()


def report(capsys, *arguments):
    status = command_line(["doctor", *arguments])
    return status, capsys.readouterr()


# -- one machine -------------------------------------------------------------------------------------


def test_a_machine_over_ssh_is_judged_as_it_judges_itself(server):
    there, here = answers(["node7"])["node7"], answers(["localhost"])["localhost"]
    assert "error" not in there, there
    assert there["verdict"] == here["verdict"]
    assert [finding["cause"] for finding in there["findings"]] == [finding["cause"] for finding in here["findings"]]
    assert there["machine"].get("accelerators") == here["machine"].get("accelerators")
    assert there["troubles"] == []
    assert {platform["place"].partition("/")[0] for platform in there["machine"]["platforms"]} == {"node7"}


def test_one_connection_and_at_most_two_trips_are_needed(server, monkeypatch):
    """What facts name and the shell could not fill in is asked in a second trip, over the same connection."""
    known = posix._resolvers
    monkeypatch.setattr(posix, "_resolvers", lambda: [row for row in known() if row[0] != "Platform.release"])
    connection = Connection("node7")
    made = remote.collected(connection.trip)
    connection.close()
    assert connection.trips == 2
    assert made.whole
    release = os.uname().release
    name = f"/lib/modules/{release}/modules.builtin"
    assert name in made.snapshot.absent | made.snapshot.files.keys() | made.snapshot.refused.keys()
    assert server.entries == ["sh -s"]


def test_a_first_trip_that_tells_all_stays_the_only_one(server):
    connection = Connection("node7")
    made = remote.collected(connection.trip)
    connection.close()
    assert (made.whole, connection.trips) == (True, 1)


def test_nothing_is_left_on_the_other_side(server, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    server.entry(f'cd {work}; export TMPDIR={work} HOME={work}; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    assert "error" not in answers(["node7"])["node7"]
    assert os.listdir(work) == []


def test_a_jump_host_is_passed(server):
    before = server.log.count("Accepted publickey")
    server.add("behind", more="  ProxyJump node7\n")
    # ssh starts itself for the jump: it finds the configuration that it was given.
    told = answers(["behind"])["behind"]
    assert "error" not in told, told
    assert told["machine"]["platforms"][0]["place"].startswith("behind")
    assert server.log.count("Accepted publickey") - before == 2
    assert server.entries == ["sh -s"]


def test_the_report_of_one_machine_is_the_ordinary_one(server, capsys):
    status, told = report(capsys, "--host", "node7", "--json")
    answer = json.loads(told.out)
    assert answer["schema"] == "rigup.doctor/1"
    assert status == int(answer["verdict"] in ("broken", "degraded"))
    status, told = report(capsys, "--host", "node7")
    assert told.out.startswith(answer["verdict"].capitalize())


# -- several -----------------------------------------------------------------------------------------


def test_several_machines_are_told_in_a_table_and_each(server, capsys):
    server.add("node8")
    server.add("closed", port=free_port())
    status, told = report(capsys, "--host", "node7", "--host", "node8", "--host", "closed")
    assert status == 2
    table = told.out.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in table if not line.startswith(" ")] == ["node7", "node8", "closed"]
    assert "closed could not be asked: " in told.out
    assert len(re.findall(r"(?m)^── ", told.out)) == 3


def test_several_machines_as_data(server, capsys):
    server.add("closed", port=free_port())
    status, told = report(capsys, "--host", "node7", "--host", "closed", "--json")
    answer = json.loads(told.out)
    assert status == 2
    assert answer["schema"] == "rigup.doctor.hosts/1"
    assert answer["hosts"]["node7"]["schema"] == "rigup.doctor/1"
    assert answer["hosts"]["closed"]["error"] == "unreachable"


def test_hosts_and_a_report_are_not_mixed(capsys):
    status, told = report(capsys, "--host", "node7", "--from", "-")
    assert status == 2
    assert "--from" in told.err


# -- what goes wrong is a value ----------------------------------------------------------------------


def failure(host, **how):
    with pytest.raises(Failure) as raised:
        Connection(host, quiet=True, **how).trip("echo")
    return raised.value


def test_nobody_listens(server):
    server.add("closed", port=free_port())
    assert failure("closed").kind == "unreachable"


def test_an_unknown_key_is_not_taken(server):
    server.add("stranger", known="unknown")
    assert failure("stranger").kind == "host-key"
    assert server.entries == []


def test_a_key_that_is_not_authorized_is_refused(server):
    (server.folder / "user.pub").write_text("")
    assert failure("node7").kind == "refused"


def test_a_name_that_nobody_knows(server):
    server.add("lost")
    config = server.folder / "config"
    config.write_text(config.read_text().replace("HostName 127.0.0.1", "HostName nobody.invalid"))
    assert failure("lost").kind == "name"


@pytest.mark.parametrize("host", ["-oProxyCommand=touch x", "", "a b", "x\ny", "$(id)", "a;b"])
def test_what_is_no_host_is_not_handed_to_ssh(host):
    assert failure(host).kind == "name"


def test_a_far_side_without_a_shell(server):
    server.entry("echo \"'sh' is not recognized as an internal or external command\" >&2; exit 1")
    told = failure("node7")
    assert told.kind == "no-shell"
    assert "not recognized" in told.said


def test_a_connection_that_breaks_in_the_middle(server):
    server.entry("echo; echo @rigup-stream/1 posix; echo '@file /etc/x'; echo '|half'; /bin/sleep 1; kill -9 $PPID")
    assert of_hosts(["node7", "localhost"], wake=False, refused=error)["node7"].error == "cut-off"


def test_a_far_side_that_says_nothing(server):
    server.entry("exec /bin/sleep 50")
    assert failure("node7", limits=Limits(1, 1)).kind == "time-out"


def test_a_far_side_that_hangs_in_the_middle(server):
    server.entry("echo @rigup-stream/1 posix; exec /bin/sleep 50")
    assert failure("node7", limits=Limits(20, 1)).kind == "time-out"


def test_a_far_side_that_never_ends(server, monkeypatch):
    monkeypatch.setattr(ssh, "_MOST_BYTES", 1_000_000)
    server.entry("echo @rigup-stream/1 posix; while :; do echo '|0123456789012345678901234567890123456789'; done")
    assert failure("node7").kind == "too-much"


def test_a_far_side_that_answers_garbage_and_says_that_it_is_done(server):
    server.entry("printf 'hello \\033[2J\\n@done 0\\n'; cat >/dev/null")
    assert of_hosts(["node7", "localhost"], wake=False, refused=error)["node7"].error == "no-shell"


def test_words_of_the_far_side_cannot_command_the_terminal(server):
    server.entry("printf '\\033]0;title\\007\\033[2Jno such shell\\r\\n' >&2; exit 3")
    told = failure("node7")
    assert told.said == "no such shell"
    assert cleaned("\x1b[31mred\x1b[0m\x9b2J\x00\nnext") == "red\nnext"


def test_an_answer_that_speaks_of_other_places_stays_inside(server, tmp_path):
    lines = ["@rigup-stream/1 posix", "@file /../../../escaped", "|x.", "@end 0", "@file /etc/os-release", "|ID=debian", "|."]
    (tmp_path / "answer").write_text("\n".join([*lines, "@end 0", "@done 0", ""]))
    server.entry(f"cat {tmp_path}/answer; cat >/dev/null")
    connection = Connection("node7", limits=Limits(20, 2))
    made = remote.collected(connection.trip)
    connection.close()
    assert made.snapshot.files == {"/etc/os-release": "ID=debian\n"}


def test_errors_of_all_hosts_are_values(server):
    server.add("stranger", known="unknown")
    told = answers(["stranger", "node7", "stranger"])
    assert list(told) == ["stranger", "node7"]
    assert told["stranger"]["error"] == "host-key"
    assert told["stranger"]["because"]
    assert told["stranger"]["next"]
    assert "schema" in told["node7"]


@pytest.mark.parametrize(
    ("host", "node"), [("node7", "node7"), ("ada@node7", "node7"), ("ssh://ada@node7:2222", "node7"), ("localhost", "localhost")]
)
def test_the_node_is_named_in_the_report(host, node):
    assert node_of(host) == node
