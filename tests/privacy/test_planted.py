"""Two hundred and fifty planted secrets and private things: none is in any output, but for the raw stream, which says so.

Every thing is planted in four places: a text, a file of a machine, a variable of it, and what a script printed.
"""

import json
import os
import shutil
import subprocess
import tarfile

import pytest
from planted import ALL, DOORS, left, said

import rigup
from each import over
from rigup.machine.outward import for_others, outward, outward_text
from rigup.machine.redaction import Redactor
from rigup.schemas.shared import Evidence

KINDS = sorted({one.kind for one in ALL})


def test_there_are_enough_of_enough_kinds():
    assert len(ALL) >= 250
    assert len(KINDS) >= 30


@over(ALL, lambda one: f"{one.kind}: {one.line!r}")
def test_each_goes_out_of_a_line_of_its_own(one):
    redactor = Redactor()
    redactor.learn(one.line)
    assert not left(redactor.text(one.line), [one])


def test_all_go_out_of_one_text():
    body = "\n".join(one.line for one in ALL)
    redactor = Redactor()
    redactor.learn(body)
    assert left(redactor.text(body), ALL) == []


def test_what_opens_a_door_goes_out_of_every_answer():
    body = {"machine": {"notes": [{"said": one.line} for one in DOORS]}, "evidence": [one.line for one in DOORS]}
    quiet = ("value of a variable", "variable of a kernelspec", "string drawn by lot", "variable nobody needs")  # not secret by their forms
    things = [one for one in DOORS if one.kind not in quiet]
    assert left(json.dumps(outward(body), ensure_ascii=False), things) == []
    assert left("\n".join(outward_text(one.line) for one in DOORS), things) == []


def test_it_goes_out_of_a_typed_part_of_a_plain_answer_too():
    secret = "hf_" + "a1B2c3D4e5F6g7H8" * 2
    evidence = Evidence(fact="x", value=f"HF_TOKEN={secret}", source="log", line=1)
    assert secret not in str(outward({"evidence": [evidence]}))
    assert secret not in str(outward(evidence))
    assert isinstance(outward(evidence), Evidence)


def test_all_go_out_of_an_answer_for_others():
    body = {"machine": {"notes": [{"said": one.line} for one in ALL]}}
    assert left(json.dumps(for_others(body), ensure_ascii=False), ALL) == []


# -- through the commands ----------------------------------------------------------------------------


OWN = (("doctor",), ("doctor", "-v"), ("doctor", "-vv"), ("doctor", "--json"), ("doctor", "--devices"))

SHOWN = (("doctor", "--issue"), ("capture", "--list"), ("capture", "--list", "--json"))


@pytest.mark.parametrize("argv", OWN, ids=" ".join)
@pytest.mark.parametrize("what", ["machine", "text"])
def test_nothing_that_opens_a_door_is_in_what_is_printed(request, argv, what):
    assert left(said(*argv, "--from", request.getfixturevalue(what)), DOORS) == []


@pytest.mark.parametrize("argv", OWN, ids=" ".join)
@pytest.mark.parametrize("what", ["machine", "text"])
def test_of_a_person_s_things_only_the_nodes_cards_and_accounts_that_commands_name_are_printed(request, argv, what):
    personal = [one for one in ALL if not one.opens]
    needed = {one.thing for one in personal if "(UUID: " in one.line or " [0] NCCL " in one.line or one.line.startswith("uid=")}
    assert {thing for _kind, thing in left(said(*argv, "--from", request.getfixturevalue(what)), personal)} <= needed


@pytest.mark.parametrize("argv", SHOWN, ids=" ".join)
@pytest.mark.parametrize("what", ["machine", "text"])
def test_nothing_private_is_in_what_is_made_to_be_shown(request, argv, what):
    assert left(said(*argv, "--from", request.getfixturevalue(what)), ALL) == []


@pytest.mark.parametrize("what", ["machine", "text"])
def test_nothing_private_is_in_a_page_or_in_a_notebook(request, tmp_path, what):
    source = request.getfixturevalue(what)
    page = tmp_path / "page.html"
    said("doctor", "--html", page, "--from", source)
    assert page.stat().st_mode & 0o777 == 0o600
    report = rigup.doctor(str(source))
    assert left(page.read_text("utf-8") + report._repr_html_() + repr(report), ALL) == []
    assert left(json.dumps(dict(report), ensure_ascii=False, default=str), DOORS) == []


def test_nothing_private_is_in_an_archive(machine, tmp_path):
    said("capture", "--yes", "--from", machine, "-o", tmp_path / "a.tar.gz")
    with tarfile.open(tmp_path / "a.tar.gz") as archive:
        bodies = [archive.extractfile(one).read() for one in archive if one.isfile()]
        names = [one.name + " " + one.linkname for one in archive]
    assert left("\n".join([*names, *(body.decode("utf-8", "replace") for body in bodies)]), ALL) == []


def test_who_owns_the_machine_may_see_its_values(machine):
    thing = next(one for one in DOORS if one.kind == "value of a variable").thing
    assert thing in said("doctor", "--json", "--with-values", "--from", machine)


@pytest.mark.parametrize("argv", [("doctor", "-vv"), ("doctor", "--json")], ids=" ".join)
def test_nothing_planted_in_variables_of_this_machine_is_printed(monkeypatch, argv):
    for number, one in enumerate(ALL):
        monkeypatch.setenv(f"PLANTED_{number}", one.thing)
        monkeypatch.setenv(f"PLANTED_{number}_LINE", one.line.replace("\0", " "))
    assert left(said(*argv), ALL) == []


NOT_BY_FORM = ("value of a variable", "variable of a kernelspec", "string drawn by lot", "variable nobody needs")


def raw(tmp_path, body):
    """What the collecting script prints of a file with this text: its own lines begin with @, the text's with |."""
    from rigup.machine.collect import script

    told = script("posix")
    start = told.index("rigup_clean() {")
    cleaning = told[start : told.index("rigup_plain() {")]
    (tmp_path / "body").write_text(body.replace("\0", "\n"))
    (tmp_path / "clean.sh").write_text("N=@1-abc@\n" + cleaning + f"rigup_clean <{tmp_path}/body\n")
    return subprocess.run(["sh", tmp_path / "clean.sh"], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("sed") is None, reason="needs sed")
def test_the_raw_stream_blanks_what_it_says_it_blanks(tmp_path):
    apart = ("\x1b", '\\"')  # it sees no colours, and no texts in texts
    things = [one for one in DOORS if one.kind not in NOT_BY_FORM and not any(sign in one.line for sign in apart)]
    assert left(raw(tmp_path, "\n@1-abc@\n".join(one.line for one in things) + "\n"), things) == []


@pytest.mark.skipif(shutil.which("sed") is None, reason="needs sed")
def test_the_raw_stream_keeps_what_stands_below_names_of_other_things(tmp_path):
    kept = (
        "Driver:\n  nvidia\nversion = (\n 12.4\n)\n@1-abc@file /x\npassword:\n@1-abc@file /y\nnvidia-580.82\nname: PATH\nvalue: /usr/bin\n"
    )
    told = raw(tmp_path, kept)
    assert told == "".join(("@" + line[7:] if line.startswith("@1-abc@") else "|" + line) + "\n" for line in kept.splitlines())


def test_the_script_says_what_stays_in_what_it_prints():
    for kind in ("posix", "powershell"):
        told = " ".join(said("capture", "--script", kind)[:2000].replace("#", " ").split())
        assert "Still in it: names of people, machines and networks, paths, addresses, serial numbers" in told


# -- the page ----------------------------------------------------------------------------------------


def test_a_page_replaces_nothing_and_follows_no_link(tmp_path, text):
    kept, link = tmp_path / "kept", tmp_path / "link.html"
    kept.write_text("mine")
    link.symlink_to(kept)
    for path in (kept, link):
        assert "left as it is" in " ".join(said("--lang", "en", "doctor", "--html", path, "--from", text).split())
        assert kept.read_text() == "mine"
    assert os.path.islink(link)
