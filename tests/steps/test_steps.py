"""Steps: a vocabulary whose commands are argument vectors, never text made from data."""

import re
import subprocess

import pytest
from samples import plain

from answer_data import as_data
from each import over
from rigup.knowledge.doctor_tables import causes
from rigup.plan.applying.stage import _CHANGES
from rigup.steps import StepError, make, parse, step_kinds


def test_a_step_takes_its_shape_from_its_kind():
    step = make(*parse("join-group user=ada group=render"))
    assert step.commands == (("usermod", "-aG", "render", "ada"),)
    assert step.undo == (("gpasswd", "-d", "ada", "render"),)
    assert (step.root, step.where, step.tag, step.id) == (True, "here", "safe", "join-group:ada:render")


@pytest.mark.parametrize(
    ("world", "wsl", "where"),
    [
        ("host", False, "here"),
        ("container", False, "host-of-container"),
        ("container:x", True, "host-of-container"),
        ("host", True, "windows-host"),
    ],
)
def test_what_is_done_to_a_kernel_is_done_at_its_owners(world, wsl, where):
    assert make("load-module", {"module": "nvidia"}, world, wsl).where == where


def test_a_list_gives_one_argument_each():
    step = make("remove-packages", {"packages": "nvidia-nccl-cu11, nvidia-nccl-cu12"})
    assert step.commands[0][-2:] == ("nvidia-nccl-cu11", "nvidia-nccl-cu12")


def test_a_command_that_cannot_be_filled_is_left_out():
    assert make("enrol-module-key", {}).commands == ()
    assert make("enrol-module-key", {"key": "/var/lib/dkms/mok.pub"}).commands == (("mokutil", "--import", "/var/lib/dkms/mok.pub"),)


def test_what_is_missing_or_unknown_is_named():
    with pytest.raises(StepError, match="group"):
        make("join-group", {"user": "ada"})
    with pytest.raises(StepError, match="nonsense"):
        make("nonsense", {})
    with pytest.raises(StepError, match="name=value"):
        parse("join-group ada")
    with pytest.raises(KeyError):
        parse("join-group user={nobody}", {})


@over(list(step_kinds()))
def test_every_kind_can_be_made_and_says_whether_it_can_be_undone(name):
    kind = step_kinds()[name]
    step = make(name, plain(kind))
    assert "{" not in step.title
    assert all("{" not in word for argv in step.commands for word in argv if argv[:2] != ("sh", "-c"))
    assert kind.undo is not None or kind.undo_because
    assert as_data(step)["commands"] == [list(argv) for argv in step.commands]


@over([name for name, kind in step_kinds().items() if kind.commands])
def test_no_command_has_a_hole_that_nothing_is_called_by(name):
    """Braces of another language would be taken for a hole, and the command left out without a word."""
    programs = [argv[2] for argv in step_kinds()[name].commands if argv[0].startswith("python") and argv[1:2] == ["-c"]]
    assert not [program for program in programs if re.search(r"\bf(?:'[^']*|\"[^\"]*)\{", program)]


@over(list(step_kinds()))
def test_no_shell_text_is_made_from_data(name):
    """A shell script may stand in a command only without holes: its values come as arguments."""
    for argv in (*step_kinds()[name].commands, *(step_kinds()[name].undo or ())):
        if argv[:2] in (("sh", "-c"), ("bash", "-c")):
            assert not [name for name in step_kinds()[name].params if "{" + name + "}" in argv[2]]


@pytest.mark.parametrize(
    ("distribution", "first"),
    [
        ("ubuntu", ("update-initramfs", "-u", "-k", "all")),
        ("rocky", ("dracut", "--force", "--regenerate-all")),
        ("arch", ("mkinitcpio", "-P")),
    ],
)
def test_a_distribution_has_its_own_words(distribution, first):
    step = make("blacklist-module", {"module": "nouveau"}, distribution=distribution)
    assert first in step.commands
    assert first in step.undo


def test_where_the_distribution_is_not_known_its_command_is_left_out():
    step = make("rebuild-modules", {"kernel": "6.8.0-49-generic"})
    assert step.commands == (("dkms", "autoinstall", "-k", "6.8.0-49-generic"),)
    known = make("rebuild-modules", {"kernel": "6.8.0-49-generic"}, distribution="debian")
    assert known.commands[0] == ("apt-get", "install", "-y", "linux-headers-6.8.0-49-generic")


@pytest.mark.parametrize("program", ["update-initramfs", "dracut", "mkinitcpio", ""])
def test_where_the_distribution_is_not_known_whichever_program_is_there_rebuilds_the_initramfs(program, tmp_path):
    """So that no title promises what no command does; where there is none, the command fails."""
    step = make("blacklist-module", {"module": "nouveau"})
    if program:
        (tmp_path / program).write_text(f'#!/bin/sh\necho "{program} $*" > {tmp_path}/ran\n')
        (tmp_path / program).chmod(0o755)
    done = subprocess.run(["/bin/sh", *step.commands[-1][1:]], env={"PATH": str(tmp_path)}, capture_output=True, check=False)
    assert (done.returncode == 0) == bool(program)
    assert (tmp_path / "ran").exists() == bool(program)
    assert not program or (tmp_path / "ran").read_text().startswith(program + " -")


def test_hooks_of_sleep_are_enabled_and_never_started():
    """systemd starts them when the machine goes to sleep: started by hand they put the card to sleep."""
    specs = [spec for row in causes().values() for way in row.fixes for spec in way]
    hooks = [spec for spec in specs if re.search(r"service=\S*(?:suspend|resume|hibernate)", spec)]
    assert hooks
    for kind, params in map(parse, hooks):
        assert not any("--now" in argv or "start" in argv for argv in make(kind, params).commands)


@pytest.mark.parametrize(("world", "where"), [("host", "here"), ("", "host-of-container"), ("container", "host-of-container")])
def test_where_the_host_speaks_what_is_the_hosts_is_done_here(world, where):
    assert make("describe-devices", {}, world).where == where


def test_what_pip_changes_is_changed_in_a_copy_of_the_environment():
    """A kind that pip takes is one that the copy beside the environment is made for."""
    by_pip = {name for name, kind in step_kinds().items() if any(argv[:3] == ("python", "-m", "pip") for argv in kind.commands)}
    by_hand = {"register-kernel", "empty-pip-cache", "older-release", "find-clashing-packages", "install-beside"}
    assert by_pip <= {*_CHANGES, *by_hand}, by_pip - {*_CHANGES}
