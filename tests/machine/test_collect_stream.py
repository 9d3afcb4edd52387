"""What a collecting script printed is read back, however it was sent, and whoever wrote it."""

import io
import os
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.collect.stream import is_stream, parse, safe, unlabelled
from rigup.machine.collect.tree import discard, kept, write
from rigup.machine.sources import close_sources, open_source
from rigup.machine.tree import Tree

STREAM = """
@rigup-stream/1 posix
@variables
@variable CUDA_VISIBLE_DEVICES
|0.
@end 0
@run id
|uid=1000(ada) gid=1000(ada) groups=1000(ada),44(video),1337
|.
@exit 0
|
@end 0
@file /etc/os-release
|ID=debian
|VERSION_ID=12
|.
@end 0
@file /etc/last
|no end.
@end 0
@file /sys/broken
|.
@end 1
@absent /dev/kfd
@refused /root/.bashrc
@list /dev/nvidia*
|crw-rw-rw-  1 root root 195,   0 Nov  1 10:00 /dev/nvidia0
|crw-rw----+ 1 root render 195, 255 Nov  1 10:00 /dev/nvidiactl
|lrwxrwxrwx  1 root root   7 Nov  1 10:00 /dev/nvidia-link -> nvidia0
|.
@end 0
@run nvidia-smi\t-L
|GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)
|.
@exit 0
|
@end 0
@missing rocminfo
@run dmesg
|.
@exit 137
|
@end 0
@asleep amd-smi
@unasked {Odd.kind}/x
@done 0
"""


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    discard()


def tree(body=STREAM.encode()):
    return Tree(kept(parse(body)))


def test_every_kind_of_entry_is_read():
    made = parse(STREAM.encode())
    kept_ = made.snapshot
    assert made.whole
    assert made.system == "posix"
    assert kept_.files == {"/etc/os-release": "ID=debian\nVERSION_ID=12\n", "/etc/last": "no end"}
    assert kept_.refused.keys() == {"/sys/broken", "/root/.bashrc"}
    assert kept_.who["environment"] == {"CUDA_VISIBLE_DEVICES": "0"}
    assert (kept_.who["user"], kept_.who["uid"], kept_.who["groups"]) == ("ada", 1000, ["ada", "video", "1337"])
    assert kept_.nodes["/dev/nvidia0"] == {"type": "char", "mode": "0666", "owner": "root", "group": "root", "major": 195, "minor": 0}
    assert kept_.nodes["/dev/nvidiactl"]["acl"]
    assert kept_.links == {"/dev/nvidia-link": "nvidia0"}
    assert kept_.commands[("nvidia-smi", "-L")].body.startswith("GPU 0")
    assert kept_.commands[("rocminfo",)].exit == 127
    assert kept_.commands[("dmesg",)].state == "refused"
    assert (made.asleep, made.unasked) == ({"amd-smi"}, {"{Odd.kind}/x"})


def test_a_tree_of_it_answers_as_the_machine_did():
    host = tree()
    assert host.read("/etc/os-release").body == "ID=debian\nVERSION_ID=12\n"
    assert host.read("/dev/kfd").state == "absent"
    assert host.read("/dev/other").state == "unseen"
    assert host.read("/root/.bashrc").state == "refused"
    assert host.find("/dev/nvidia*") == ["/dev/nvidia-link", "/dev/nvidia0", "/dev/nvidiactl"]
    assert "crw-rw----+ 1 root render 0 /dev/nvidiactl" in host.listing("/dev/nvidia*").body
    assert host.run(("rocminfo",)).state == "absent"
    assert "44(video)" in host.account().body


@pytest.mark.parametrize(
    "sent",
    [
        lambda body: b"Last login: yesterday\n*** no mining ***\n" + body,
        lambda body: b"no line end before it" + body,
        lambda body: body.replace(b"\n", b"\r\n"),
        lambda body: body.replace(b"@absent", b"Connection will be closed soon\n@absent"),
        lambda body: body + b"logout\n@file /etc/os-release\n|ID=forged.\n@end 0\n",
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: ("\ufeff" + body.decode()).encode("utf-16-le"),
    ],
    ids=["greeting", "glued", "crlf", "noise", "trailer", "bom", "utf-16"],
)
def test_noise_and_other_line_ends_change_nothing(sent):
    body = sent(STREAM.encode())
    assert is_stream(body)
    assert parse(body) == parse(STREAM.encode())


def test_what_is_cut_off_in_the_middle_is_not_believed():
    body = STREAM.encode()
    made = parse(body[: body.index(b"VERSION_ID")])
    assert not made.whole
    assert made.snapshot.files == {}
    assert made.snapshot.who["user"] == "ada"


@given(st.integers(0, len(STREAM)))
def test_a_stream_cut_anywhere_holds_nothing_that_the_whole_does_not(end):
    whole, cut = parse(STREAM.encode()), parse(STREAM.encode()[:end])
    assert cut.snapshot.files.items() <= whole.snapshot.files.items()
    assert cut.snapshot.commands.items() <= whole.snapshot.commands.items()
    assert cut.whole == (end >= STREAM.index("@done 0") + len("@done 0"))


VERBS = st.sampled_from(
    [
        "file",
        "list",
        "run",
        "variable",
        "end",
        "exit",
        "done",
        "absent",
        "refused",
        "there",
        "folder",
        "looked",
        "missing",
        "root",
        "variables",
        "asleep",
        "x",
    ]
)
ABOUT = st.one_of(st.text(max_size=30), st.sampled_from(["/a", "/a/../../b", "/a//b/./c", "id", "0", "/x\t/y", "C:\\a/b"]))
LINE = st.one_of(
    st.tuples(VERBS, ABOUT).map(lambda pair: "@" + " ".join(pair)),
    st.text(max_size=60).map(lambda text: "|" + text),
    st.sampled_from(["|l--------- 1 r g 0 /a -> /etc", "|-rw-r--r-- 1 a b 1, 2 /a/b", "|.", "|d--------- 1 a b 0 /a/b/c"]),
    st.text(max_size=30),
)


@given(st.lists(LINE, max_size=40))
def test_whatever_a_stream_says_it_stays_inside(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("outer") / "tree"
    body = "\n".join(["@rigup-stream/1 posix", *lines]).encode("utf-8", "surrogatepass")
    made = parse(body)
    write(made, str(folder))
    assert os.listdir(folder.parent) == ["tree"]
    host = Tree(str(folder))
    for path in made.snapshot.files:
        assert host.read(path).state in ("known", "refused", "unseen", "absent")


@given(st.binary(max_size=400))
def test_garbage_is_read_without_complaint(body):
    parse(b"@rigup-stream/1 posix\n" + body)


@given(st.text(max_size=100))
def test_a_path_is_inside_or_none(path):
    told = safe(path)
    assert told is None or (told.startswith("/") and ".." not in told.split("/"))


@given(st.lists(st.text(st.characters(codec="ascii"), max_size=20), min_size=1, max_size=5))
def test_argument_vectors_survive_their_label(argv):
    from rigup.machine.collect.posix import label

    spelled = label(argv)
    assert "\n" not in spelled
    assert unlabelled(spelled) == tuple(argv)


def test_links_lead_no_write_outside(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    listed = [f"|lrwxrwxrwx 1 root root 1 /a -> {outside}", "|lrwxrwxrwx 1 root root 1 /a/b -> /etc/passwd"]
    chain = [f"|lrwxrwxrwx 1 root root 1 /c{number} -> /c{number + 1}" for number in range(60)]
    last = [f"|lrwxrwxrwx 1 root root 1 /c60 -> {outside}", "|lrwxrwxrwx 1 root root 1 /c0/x -> /etc/passwd"]
    lines = ["@rigup-stream/1 posix", "@list /*", *listed, *chain, *last, "|.", "@end 0", "@file /a/f", "|x.", "@end 0"]
    write(parse("\n".join(lines).encode()), str(tmp_path / "tree"))
    assert os.listdir(outside) == []


def test_the_doctor_knows_a_stream_in_a_file_and_on_standard_input(tmp_path, monkeypatch):
    (tmp_path / "machine.txt").write_text(STREAM)
    (from_file,) = open_source(str(tmp_path / "machine.txt"))
    assert from_file.host.read("/etc/last").body == "no end"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(STREAM.encode())))
    (piped,) = open_source("-")
    assert piped.host.read("/etc/last").body == "no end"
    folder = piped.host.root
    close_sources()
    assert not os.path.exists(folder)


def test_a_text_that_only_speaks_of_a_stream_stays_a_text(tmp_path):
    (tmp_path / "mail.txt").write_text("it begins with @rigup-stream/1, I think\n")
    (source,) = open_source(str(tmp_path / "mail.txt"))
    assert source.host is None
    assert len(source.texts) == 1
