"""The collecting script for POSIX shells, run for real."""

import filecmp
import os
import re
import shutil
import subprocess

import pytest
from collecting import APPLETS, CARD, SHELLS, lifelike, need, program, programs_of, ran, shell, small_machine, write

from answer_data import diagnose
from each import each
from packs import machine_folder, machine_names
from rigup.knowledge.secrets import tokens
from rigup.machine.collect import posix, private, script
from rigup.machine.collect.questions import Path_, Program, paths, programs
from rigup.machine.collect.stream import is_stream, parse
from rigup.machine.collect.tree import discard, kept
from rigup.machine.local import Local
from rigup.machine.tree import Tree

HOME = {"HOME": "/home/ada", "PWD": "/home/ada"}


@pytest.fixture
def machine(tmp_path):
    return small_machine(tmp_path)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    discard()


def collected(root, **how):
    return parse(ran(script(), root, environment={**HOME, **how.pop("environment", {})}, **how))


def asked(*files, lists=(), run=()):
    """A script that asks for little."""
    wanted = [Path_(False, path) for path in files] + [Path_(True, path) for path in lists]
    return posix.asking(wanted, list(run))


def run_of(*argv, seconds=5.0, wakes=""):
    return Program(argv, seconds, wakes, (), ())


# -- the same in every shell -------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_collects_what_the_readers_ask_for(machine, tmp_path, name):
    (tmp_path / "bin").mkdir()
    made = collected(machine, by=shell(name), programs=tmp_path / "bin")
    assert made.whole
    assert made.system == "posix"
    assert made.unasked == set()
    files = made.snapshot.files
    assert files["/etc/os-release"] == "ID=debian\nVERSION_ID=12\n"
    assert files["/" + CARD + "mem_info_vram_total"] == "25753026560\n"
    assert files["/lib/modules/6.1.0-18-amd64/modules.builtin"] == "kernel/drivers/gpu/drm/drm.ko\n"
    assert files["/home/ada/venv/lib/python3.11/site-packages/torch/version.py"] == "__version__ = '2.6.0+rocm6.2'\n"
    assert files["/srv/llm.env"] == "HSA_OVERRIDE_GFX_VERSION=11.0.0\n"
    assert made.snapshot.links["/" + CARD + "driver"] == "../drivers/amdgpu"
    assert "/home/ada/venv/lib/python3.11/site-packages/torch-2.6.0+rocm6.2.dist-info" in made.snapshot.folders
    assert "/proc/driver/nvidia/version" in made.snapshot.absent
    assert made.snapshot.commands[("nvidia-smi",)].state == "absent"


@pytest.mark.parametrize("name", SHELLS)
def test_what_was_collected_is_judged_like_the_machine(machine, tmp_path, name):
    (tmp_path / "bin").mkdir()
    folder = kept(collected(machine, by=shell(name), programs=tmp_path / "bin"))
    told = diagnose(folder)
    (card,) = told["machine"]["accelerators"]
    assert (card["isa"], card["driver"], card["memory"]) == ("gfx1100", {"name": "amdgpu"}, {"vram": 25753026560})
    assert told["machine"]["torches"][0]["version"] == "2.6.0+rocm6.2"
    direct = diagnose(str(machine))
    assert direct["machine"]["accelerators"] == told["machine"]["accelerators"]


def test_every_file_is_answered_byte_for_byte(machine):
    write(machine, "etc/modprobe.d/a.conf", b"options a b=1")  # no last line end
    write(machine, "etc/modprobe.d/b.conf", b"options a\r\n\r\n\n")
    write(machine, "etc/modprobe.d/c.conf", b"")
    write(machine, "etc/modprobe.d/d.conf", b"@end 0\n|x\n.\n@done 0\n")  # looks like ours
    write(machine, "sys/firmware/efi/efivars/x", b"\x06\x00\x00\x00\x01")
    names = [*(f"/etc/modprobe.d/{name}.conf" for name in "abcd"), "/sys/firmware/efi/efivars/x"]
    made = parse(ran(asked("/etc/modprobe.d/*.conf", names[-1]), machine))
    again, live = Tree(kept(made)), Local(str(machine))
    assert [again.read(name).body for name in names] == [live.read(name).body for name in names]


def test_a_file_in_a_folder_with_odd_names_is_found(machine):
    write(machine, "opt/a b/c'd/$HOME;x/version", "1\n")
    made = parse(ran(asked("/opt/*/*/*/version"), machine))
    assert made.snapshot.files == {"/opt/a b/c'd/$HOME;x/version": "1\n"}


def test_this_machine_is_judged_as_the_doctor_judges_it(tmp_path, monkeypatch):
    """Stated differences: variables that have nothing to do with GPUs are not told, free memory and disk move."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # no proofs that another test has kept
    stream = tmp_path / "machine.txt"
    stream.write_bytes(ran(script(), environment={"HOME": os.environ.get("HOME", "/")}, path=os.environ["PATH"]))
    told, direct = diagnose(str(stream)), diagnose()
    assert told["verdict"] == direct["verdict"]
    assert [finding["cause"] for finding in told["findings"]] == [finding["cause"] for finding in direct["findings"]]
    moving = {"state_folders", "variables", "memories", "disk_spaces", "package_sources"}
    for kind in (told["machine"].keys() | direct["machine"].keys()) - moving:
        assert told["machine"].get(kind) == direct["machine"].get(kind), kind


# -- less than a whole system ------------------------------------------------------------------------


@pytest.fixture
def applets(tmp_path):
    """A folder with busybox's programs and no others."""
    busybox, folder = need("busybox"), tmp_path / "applets"
    folder.mkdir()
    for name in APPLETS:
        os.symlink(busybox, folder / name)
    return folder


def test_busybox_alone_is_enough(machine, applets, tmp_path):
    (tmp_path / "bin").mkdir()
    by = [str(applets / "sh")]
    made = collected(machine, by=by, path=str(applets), programs=tmp_path / "bin")
    whole = collected(machine, by=shell("dash"), programs=tmp_path / "bin")
    assert made.whole
    assert made.snapshot.files == whole.snapshot.files
    assert made.snapshot.links == whole.snapshot.links


@pytest.mark.parametrize("missing", ["head", "ls", "timeout", "sort", "od", "tr", "env", "id"])
def test_without_a_common_program_the_rest_is_collected(machine, applets, missing):
    (applets / missing).unlink()
    made = collected(machine, by=[str(applets / "sh")], path=str(applets), programs=applets)
    assert made.whole
    assert made.snapshot.files["/etc/os-release"] == "ID=debian\nVERSION_ID=12\n"


def test_without_sed_a_suspicious_line_is_left_out_whole(machine, applets):
    (applets / "sed").unlink()
    write(machine, "etc/pip.conf", "[global]\nindex-url = https://ada:hunter2@mirror.example/simple\ntimeout = 60\n")
    made = parse(ran(asked("/etc/pip.conf"), machine, by=[str(applets / "sh")], path=str(applets)))
    lines = made.snapshot.files["/etc/pip.conf"].splitlines()
    assert (lines[0], lines[2]) == ("[global]", "timeout = 60")
    assert "hunter2" not in lines[1]


# -- harmless, bounded -------------------------------------------------------------------------------


def test_nothing_is_changed_and_nothing_is_left(machine, tmp_path):
    before = tmp_path / "before"
    shutil.copytree(machine, before, symlinks=True)
    (tmp_path / "work").mkdir()
    collected(machine, cwd=tmp_path / "work", environment={"TMPDIR": str(tmp_path / "work")})
    assert os.listdir(tmp_path / "work") == []
    assert _alike(filecmp.dircmp(before, machine))


def _alike(pair):
    differing = [*pair.left_only, *pair.right_only, *pair.diff_files]
    return not differing and all(map(_alike, pair.subdirs.values()))


def test_pipes_folders_and_what_may_not_be_read_are_refused(machine):
    (machine / "etc/modprobe.d").mkdir()
    os.mkfifo(machine / "etc/modprobe.d/pipe.conf")
    (machine / "etc/modprobe.d/folder.conf").mkdir()
    os.symlink("/nowhere", machine / "etc/modprobe.d/lost.conf")
    made = parse(ran(asked("/etc/modprobe.d/*.conf"), machine, seconds=20))
    assert made.snapshot.refused.keys() == {"/etc/modprobe.d/pipe.conf", "/etc/modprobe.d/folder.conf"}
    assert "/etc/modprobe.d/lost.conf" in made.snapshot.absent


def test_a_long_file_is_cut(machine):
    write(machine, "etc/long", "x" * 5000)
    made = parse(ran(posix.asking([Path_(False, "/etc/long", most=100)], []), machine))
    assert made.snapshot.files["/etc/long"] == "x" * 100


@pytest.mark.parametrize("name", SHELLS)
def test_hanging_and_chattering_programs_cost_themselves_only(machine, tmp_path, name):
    program(tmp_path / "bin", "hangs", "exec /bin/sleep 50")
    program(tmp_path / "bin", "chatters", "while :; do echo 0123456789012345678901234567890123456789; done")
    program(tmp_path / "bin", "fails", "echo before; echo wrong >&2; exit 14")
    run = [run_of("hangs", seconds=1), run_of("chatters", seconds=1), run_of("fails")]
    made = parse(ran(asked("/etc/os-release", run=run), machine, programs=tmp_path / "bin", by=shell(name)))
    said = made.snapshot.commands
    assert made.whole
    assert said[("hangs",)].exit == 124
    assert said[("chatters",)].body is None or len(said[("chatters",)].body) <= 5_000_000
    assert (said[("fails",)].body, said[("fails",)].exit) == ("before\nwrong\n", 14)


def test_a_hanging_program_is_ended_without_timeout_too(machine, applets, tmp_path):
    (applets / "timeout").unlink()
    program(tmp_path / "bin", "hangs", "exec /bin/sleep 50")
    program(tmp_path / "bin", "quick", "echo done")
    text = asked(run=[run_of("hangs", seconds=1), run_of("quick")])
    made = parse(ran(text, machine, programs=tmp_path / "bin", by=[str(applets / "sh")], path=str(applets)))
    assert made.snapshot.commands[("hangs",)].exit == 124
    assert made.snapshot.commands[("quick",)].body == "done\n"


def test_a_program_gets_no_input_and_the_plain_language(machine, tmp_path):
    program(tmp_path / "bin", "asks", 'read -r x; echo "[$x] $LC_ALL"')
    text = asked(run=[run_of("asks")])
    made = parse(ran(text, machine, programs=tmp_path / "bin", environment={"LANG": "de_DE.UTF-8"}))
    assert made.snapshot.commands[("asks",)].body == "[] C\n"
    assert made.snapshot.who["environment"]["LANG"] == "de_DE.UTF-8"


def test_an_argument_with_line_ends_and_backslashes_arrives(machine, tmp_path):
    program(tmp_path / "bin", "echoes", 'printf "%s\\n" "$@"')
    argv = ("echoes", "a\nb", "c\\n", "it's", "", "d\te", "$HOME `x`")
    made = parse(ran(asked(run=[run_of(*argv)]), machine, programs=tmp_path / "bin"))
    assert made.snapshot.commands[argv].body == "\n".join(argv[1:]) + "\n"


# -- cards that sleep --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHELLS)
def test_a_card_that_sleeps_is_left_asleep(machine, tmp_path, name):
    write(machine, CARD + "power/runtime_status", "suspended\n")
    program(tmp_path / "bin", "rocminfo", "echo woken > " + str(tmp_path / "woken"))
    program(tmp_path / "bin", "nvidia-smi", "echo another maker")
    made = collected(machine, by=shell(name), programs=tmp_path / "bin")
    assert "rocminfo" in made.asleep
    assert "/" + CARD + "mem_info_vram_total" in made.asleep
    assert "/" + CARD + "mem_info_vram_total" not in made.snapshot.files
    assert made.snapshot.files["/" + CARD + "vendor"] == "0x1002\n"
    assert made.snapshot.commands[("nvidia-smi",)].body == "another maker\n"
    assert not (tmp_path / "woken").exists()


def test_a_card_that_sleeps_is_woken_on_request(machine, tmp_path):
    write(machine, CARD + "power/runtime_status", "suspended\n")
    program(tmp_path / "bin", "rocminfo", "echo awake")
    made = collected(machine, programs=tmp_path / "bin", environment={"RIGUP_WAKE": "1"})
    assert made.snapshot.commands[("rocminfo",)].body == "awake\n"
    assert "/" + CARD + "mem_info_vram_total" in made.snapshot.files


# -- private things ----------------------------------------------------------------------------------

PLANTED = {
    "export HF_TOKEN=%s": "hf_AbCdEfGhIjKlMnOpQrStUvWx12345678",
    "export OPENAI_API_KEY='%s'": "made up words",
    "set -gx WANDB_API_KEY %s": "0123456789abcdef0123456789abcdef01234567",
    "curl -H 'Authorization: Bearer %s' x": "abcDEF123456.ghi",
    "git clone https://ada:%s@git.example/x": "hunter2hunter2",
    "# my key is %s, do not lose it": "ghp_0123456789abcdefghijABCDEFGHIJ456789",
    "aws %s": "AKIAIOSFODNN7EXAMPLE",
    "db_password: %s": "correct-horse-battery",
    '  "Slack_Token" : "%s",': "xoxb-1234567890-abcdefghijkl",
    "jwt=%s": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    "tool --token %s": "tok-123456789",
}


@pytest.mark.parametrize("name", SHELLS)
def test_no_planted_secret_is_printed(machine, tmp_path, name):
    rc = "".join(line % secret + "\n" for line, secret in PLANTED.items())
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
    write(machine, "home/ada/.bashrc", rc + key + "export CUDA_VISIBLE_DEVICES=1\n")
    program(tmp_path / "bin", "dmesg", "/bin/cat " + str(machine / "home/ada/.bashrc"))
    variables = {
        "HF_TOKEN": "hf_AbCdEfGhIjKlMnOpQrStUvWx12345678",
        "SLURM_JWT_SECRET": "made up",
        "MY_DIARY": "dear diary",
        "PIP_INDEX_URL": "https://ada:hunter2hunter2@mirror.example/simple",
        "CUDA_VISIBLE_DEVICES": "0",
        "ROCM_PATH": "first line\nOLLAMA_HOST=smuggled\nsecond",
    }
    said = ran(script(), machine, environment={**HOME, **variables}, by=shell(name), programs=tmp_path / "bin").decode()
    leaked = [secret for secret in (*PLANTED.values(), "b3BlbnNzaC1r", "made up", "dear diary", "smuggled") if secret in said]
    assert leaked == []
    assert "export CUDA_VISIBLE_DEVICES=1" in said
    assert "SECRET" not in said.split("@file")[0]
    environment = parse(said.encode()).snapshot.who["environment"]
    assert environment["PIP_INDEX_URL"] == "https://" + private.BLANK + "@mirror.example/simple"
    assert environment["CUDA_VISIBLE_DEVICES"] == "0"
    assert environment["ROCM_PATH"] == "first line"


def test_every_kind_of_token_in_the_table_is_blanked(machine):
    """Those of one line: the script sees one at a time and says so; `rigup capture --from` takes the others out."""
    rows = [row for row in tokens() if "\n" not in row.example]
    assert len(rows) > 80
    for number, row in enumerate(rows):
        write(machine, f"etc/notes/{number}", f"before {row.example} after\nbefore {row.near_miss}\n")
    files = parse(ran(asked("/etc/notes/*"), machine)).snapshot.files
    blanked = {row.kind: files[f"/etc/notes/{number}"].splitlines() for number, row in enumerate(rows)}
    each(rows, lambda row: _is_blanked(row, *blanked[row.kind]), lambda row: row.kind)


def _is_blanked(row, told, near):
    found = re.compile(row.regex).fullmatch(row.example)
    assert found["x" if "x" in found.groupdict() else 0] not in told
    assert told.startswith("before ")
    if "(?!" not in row.regex and "(?<!" not in row.regex:  # sed cannot look ahead: there it may blank more, never less
        assert near == f"before {row.near_miss}"


def test_ordinary_lines_are_left_alone(machine):
    lines = [
        "PATH=/usr/bin",
        "export LD_LIBRARY_PATH=/opt/rocm/lib:/usr/lib",
        "options nvidia NVreg_EnableMSI=1",
        "max_split: 128",
        "pattern = x",
        "index-url = https://mirror.example/simple",
        "Package: libsecret-1-0",
        "kernel: amdgpu 0000:03:00.0: ok",
        "HSA_OVERRIDE_GFX_VERSION=11.0.0",
        '"argv": ["/opt/venv/bin/python", "-m", "ipykernel_launcher"]',
        "tokenizers 0.21.0",
    ]
    write(machine, "etc/notes", "\n".join(lines))
    assert parse(ran(asked("/etc/notes"), machine)).snapshot.files["/etc/notes"].splitlines() == lines


# -- the text ----------------------------------------------------------------------------------------


def test_the_script_tells_the_person_what_it_does():
    head = script().partition("\nif ")[0]
    assert "changes nothing" in head
    assert "sends nothing" in head
    assert "seconds" in head
    assert "rigup doctor --from" in head


def test_the_script_is_small_and_asks_each_thing_once():
    text = script()
    assert len(text) < 115_000  # more than half of it are the forms of secrets that it blanks
    lines = [line for line in text.splitlines() if line.startswith(("f '", "f /", "l '", "l /"))]
    assert len(lines) == len(set(lines)) > 100


def test_every_declared_input_is_asked_or_said_to_be_unasked():
    text = script()
    unasked = [path for path in paths() if path.hole and "for_" + path.hole.replace(".", "_") not in text]
    assert [line for line in text.splitlines() if line.startswith("say 'unasked")] == [
        "say 'unasked " + path.at("{" + path.hole + "}") + "'" for path in unasked
    ]
    assert all(posix.label(made.argv) in text.replace("'\"'\"'", "'") for made in programs())


def test_a_hole_that_no_shell_can_fill_is_named(machine):
    made = parse(ran(posix.asking([Path_(False, "/opt/", "Odd.kind", "/x")], []), machine))
    assert made.unasked == {"/opt/{Odd.kind}/x"}


def test_shellcheck_finds_nothing(tmp_path):
    checker = need("shellcheck")
    (tmp_path / "script.sh").write_text(script())
    told = subprocess.run(
        [checker, "--shell=sh", "--severity=warning", tmp_path / "script.sh"], capture_output=True, text=True, check=False
    )
    assert told.stdout == ""
    assert told.returncode == 0


def test_a_stream_is_known_by_its_first_line(machine):
    said = ran(asked("/etc/os-release"), machine)
    assert is_stream(said)
    assert is_stream(b"Welcome to node7!\r\n" + said.replace(b"\n", b"\r\n"))
    assert not is_stream(b"somebody wrote of @rigup-stream/1 in a mail")


# -- captured machines -------------------------------------------------------------------------------


def played(root, tmp_path, by):
    """What the script makes of a captured tree, and what reading the tree directly does.

    Device nodes are plain files in a tree, and a script runs only what readers ask for in their own words.
    """
    import json

    tree = tmp_path / "tree"
    shutil.copytree(root, tree, symlinks=True)
    asked_for = {made.argv for made in programs()}
    said = json.loads((tree / "commands.json").read_text()) if (tree / "commands.json").exists() else []
    kept_said = [told for told in said if tuple(told["argv"]) in asked_for]
    (tree / "commands.json").write_text(json.dumps(kept_said))
    who = json.loads((tree / "who.json").read_text()) if (tree / "who.json").exists() else {}
    environment = {name: str(value) for name, value in (who.get("environment") or {}).items() if name != "PATH"}
    bin_ = programs_of(tree, tmp_path / "bin")
    stream = tmp_path / "stream"
    stream.write_bytes(ran(script(), lifelike(tree, tmp_path / "root"), bin_, environment, by))
    return diagnose(str(stream)), diagnose(str(tree))


def accelerators(told):
    return [
        {name: value for name, value in device.items() if name not in ("state", "because", "next")}
        for device in told["machine"].get("accelerators") or []
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", machine_names())
def test_a_captured_machine_played_through_the_script_has_the_same_devices(name, tmp_path):
    told, direct = played(machine_folder(name), tmp_path, shell("dash"))
    assert accelerators(told) == accelerators(direct)


SHARED_TREES = ("linux-amd64-accel-nvidia", "linux-amd64-accel", "linux-amd64-8581cf3a529e5d8b97ea876eade2f60d")


@pytest.mark.machines
@pytest.mark.parametrize("name", SHARED_TREES)
def test_a_snapshot_of_a_real_machine_played_through_the_script_has_the_same_devices(name, shared, tmp_path):
    from rigup.machine import archive

    folder = archive.unpacked(str(shared / "machines/ghw-snapshots" / (name + ".tar.gz")))
    try:
        told, direct = played(folder, tmp_path, shell("busybox ash"))
    finally:
        archive.discard()
    assert accelerators(told) == accelerators(direct)
