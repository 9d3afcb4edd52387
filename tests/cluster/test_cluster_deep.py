"""`rigup cluster doctor --deep`: what is measured is judged, nobody is blamed for a neighbour, and strangers' words are bounded."""

import base64
import itertools
import json
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import run
from rigup.cluster.deep import (
    MARGIN,
    Disk,
    Folder,
    Hello,
    Link,
    Measured,
    Proof,
    Verified,
    blamed,
    differences,
    failed_links,
    judged_links,
    links_to_repeat,
    pairs,
    proof,
    rounds,
    slow,
)
from rigup.machine.collect.srun import Labelled
from rigup.verify.child import PROBE
from rigup.workflows import cluster_talk
from rigup.workflows.cluster_deep import measured
from rigup.workflows.cluster_talk import Talk, by_ssh

NAMES = [f"n{at}" for at in range(1, 7)]


@given(st.integers(2, 40))
def test_every_node_meets_others_once_a_round_and_never_the_same_twice(count):
    names = [str(at) for at in range(count)]
    met = [pair for round_ in range(rounds(count)) for pair in map(frozenset, pairs(names, round_))]
    assert len(met) == len(set(met))
    for round_ in range(rounds(count)):
        members = [name for pair in pairs(names, round_) for name in pair]
        assert len(members) == len(set(members)) == count - count % 2


def test_all_meet_all_where_rounds_allow_it():
    assert {frozenset(pair) for round_ in range(rounds(4)) for pair in pairs("abcd", round_)} == {
        frozenset(pair) for pair in itertools.combinations("abcd", 2)
    }
    assert rounds(1) == 0
    assert rounds(2) == 1


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1e12), max_size=20))
def test_slow_is_far_below_the_median_and_never_most(rates):
    usual, names = slow(rates)
    assert all(usual is not None and 0 < rates[name] * MARGIN < usual for name in names)
    assert len(names) * 2 <= len(rates)


def test_too_few_rates_blame_nobody():
    assert slow({"a": 1.0, "b": 1e9}) == (None, set())


def test_a_node_that_is_bad_with_all_is_blamed_and_its_partners_are_not():
    links = [pair for round_ in range(3) for pair in pairs(NAMES, round_)]
    bad = [pair for pair in links if "n4" in pair]
    assert blamed(links, bad) == (["n4"], set())


def test_one_bad_link_between_sound_nodes_is_told_as_a_link():
    links = [pair for round_ in range(3) for pair in pairs(NAMES, round_)]
    assert blamed(links, links[:1]) == ([], {links[0]})
    assert blamed([("a", "b")], [("a", "b")]) == ([], {("a", "b")})


def sound(**changed):
    """Six sound nodes, all pairs of three rounds."""
    found = Measured(
        proofs={name: Proof("verified", "torch 2", ("cpu",), family="gloo") for name in NAMES},
        disks={name: [Folder("/tmp", 2e8 + at * 1e7, 9e8)] for at, name in enumerate(NAMES)},
        links={pair: Link(pair[1], round_, 1e9 * (1 + round_ / 4)) for round_ in range(3) for pair in pairs(NAMES, round_)},
    )
    for name, value in changed.items():
        getattr(found, name).update(value)
    return found


def test_of_sound_nodes_nothing_is_said():
    found, deep = differences(sound())
    assert dict(found) == {}
    assert not any(link.bad for link in deep.links)
    assert not any(disk.slow for disk in deep.disks)
    assert {usual.of for usual in deep.usual} == {"all-reduce gloo", "disk /tmp write", "disk /tmp read"}
    assert [(row.count, row.state) for row in deep.verified] == [(6, "verified")]


def test_each_fault_is_told_of_its_own_node():
    slow_links = {pair: Link(pair[1], 0, 1e7) for round_ in range(3) for pair in pairs(NAMES, round_) if "n2" in pair}
    found, deep = differences(
        sound(
            proofs={
                "n1": Proof("failed", "torch 2", ("cpu",), ("cpu: sorting",), family="gloo"),
                "n5": Proof("unknown", because="no torch"),
            },
            disks={"n3": [Folder("/tmp", 1e6, 9e8)], "n6": [Folder("/tmp", error="no end after 20 s")]},
            links=slow_links,
            silent={"n4": "a link"},
        )
    )
    assert {name: [row.fact for row in rows] for name, rows in found.items()} == {
        "n1": ["verification"],
        "n5": ["verification"],
        "n3": ["disk /tmp write"],
        "n6": ["disk /tmp"],
        "n2": ["all-reduce with other nodes"],
        "n4": ["answer of a link"],
    }
    assert not any(link.alone for link in deep.links)


def test_a_wrong_sum_is_bad_at_any_speed():
    links = {("a", "b"): Link("b", 0, 1e12, False)}
    found = Measured(proofs=dict.fromkeys("ab", Proof("verified", family="gloo")), links=links)
    assert failed_links(found) == {("a", "b")}


def test_a_node_that_answers_nobody_is_blamed_before_a_partner_whose_other_links_are_slow():
    links = {
        ("n1", "n3"): Link("n3", 0, error="nobody came"),
        ("n3", "n5"): Link("n5", 1, error="nobody came"),
        ("n1", "n5"): Link("n5", 2, 1e9),
        ("n2", "n5"): Link("n5", 0, 1e7),
        ("n2", "n4"): Link("n4", 1, 1e9),
        ("n4", "n6"): Link("n6", 0, 1e9),
        ("n1", "n2"): Link("n2", 3, 1e9),
        ("n1", "n4"): Link("n4", 4, 1e9),
        ("n5", "n6"): Link("n6", 3, 1e7),
    }
    found = sound()
    found.links = links
    _usual, nodes, bad, left = judged_links(found)
    assert nodes == ["n3"]
    assert left == {("n2", "n5"), ("n5", "n6")}
    assert bad == left | {("n1", "n3"), ("n3", "n5")}
    assert links_to_repeat(found) == left, "a node that answers nobody is not asked again"
    found.links["n1", "n5"] = Link("n5", 2, 1e7)
    assert judged_links(found)[1] == ["n3", "n5"]


def test_a_link_that_did_not_come_about_is_tried_once_more():
    found = sound(links={pairs(NAMES, 0)[0]: Link("n6", 0, error="the port is taken")})
    assert links_to_repeat(found) == {pairs(NAMES, 0)[0]}


def event(say, **fields):
    return {"say": say, **fields}


BEGUN = [
    event("ready", version="2.6", seconds=1.0, build={}),
    event("devices", devices=[{"id": "cpu"}, {"id": "cuda:0"}]),
    event("done"),
    event("ended", why="", status=0, seconds=2),
]


def test_a_device_that_ends_the_process_failed():
    answer = Verified([*BEGUN, event("begin", device="cuda:0", check="sorting"), event("ended", why="", status=-11, seconds=2)])
    judged = proof(answer)
    assert (judged.state, judged.failed, judged.family) == ("failed", ("cuda:0: sorting",), "nccl")


def test_time_that_is_over_is_no_fault():
    passed = [event("begin", device="cpu", check="small-tensors"), event("end", measured={"elsewhere": [], "cases": []}, seconds=0.1)]
    judged = proof(
        Verified([*BEGUN, *passed, event("begin", device="cpu", check="sorting"), event("ended", why="over", status=-9, seconds=2)])
    )
    assert judged.failed == ()


def test_an_import_that_fails_is_told_in_its_own_words():
    judged = proof(Verified([event("ended", why="", status=1, seconds=1)], "Traceback\nImportError: libcudart.so.12\n"))
    assert (judged.state, judged.because) == ("failed", "ImportError: libcudart.so.12")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["say", "device", "check", "devices", "version", "seconds", "status", "why"]) | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["say", "device", "check", "devices", "version", "status", "why", "measured"]), JSON, max_size=6
        ).map(lambda row: {"say": "end"} | row),
        max_size=6,
    )
)
def test_whatever_a_probe_says_is_judged(events):
    assert proof(Verified(events)).state in ("verified", "failed", "unknown")


def test_lines_that_srun_cut_are_joined():
    labelled = Labelled()
    long = b"|" + b"x" * 3000
    cut = [long[at : at + 1024] for at in range(0, len(long), 1024)]
    lines = [b"2: @rigup-node n7\n", *(b"2: " + piece + b"\n" for piece in cut), b"2: |next\n", b"3: noise\n"]
    taken = [labelled_line for line in lines if (labelled_line := labelled.take(line))]
    assert taken == [("n7", b""), ("n7", long + b"\n"), ("n7", b"|next\n")]


def node(*answers, more=""):
    """A command that says what it is told to, in place of ssh."""
    packed = [base64.b64encode(zlib.compress(json.dumps(answer).encode())).decode() for answer in answers]
    lines = ["@rigup-node n1", "@rigup-stream/1 posix", "@done 0", *(f"@rigup-deep = {piece}" for piece in packed)]
    return [sys.executable, "-c", f"import sys\nprint({chr(10).join(lines)!r}, flush=True)\n{more}\nsys.stdin.read()"]


def test_answers_of_strangers_are_bounded():
    hostile = 'sys.stdout.write("@rigup-deep = !!!\\n@rigup-deep = " + "A" * 100 + "\\n@rigup-deep +\\n" + "@" * 5000 + "\\n"); sys.stdout.flush()'
    evil = {"say": "hello", "torch": True, "addresses": ["10.0.0.1", "; rm -rf /", 7], "port": "x"}
    with Talk({"n1": node(evil, [1], {"say": "hello", "torch": True, "addresses": ["x", "10.0.0.2"], "port": 5}, more=hostile)}) as talk:
        assert talk.begun(["n1"], 20) == {"n1"}
        found = talk.hear(Hello, ["n1"], 20)
        assert found["n1"].port == 5
        assert talk.hear(Disk, ["n1"], 0.5) == {}


def test_a_node_that_says_nothing_costs_itself(monkeypatch):
    folder = {"folder": "/tmp", "write": 1e8, "read": 1e9}
    well = node({"say": "hello"}, {"say": "disk", "folders": [folder]})
    monkeypatch.setattr("rigup.workflows.cluster_deep._HELLO", 3.0)
    with Talk({"n1": well, "n2": node()}) as talk:
        assert talk.begun(["n1", "n2"], 20) == {"n1", "n2"}
        found = measured(talk, ["n1", "n2"], 1.0, [], lambda _text: None)
    assert found.silent == {"n2": "the measuring program"}
    assert found.proofs["n1"].state == "unknown"
    assert found.disks["n1"][0].write == 1e8


@pytest.mark.parametrize(
    "words",
    [["--env", "x"], ["--python", "/usr/bin/python3"], ["--disk", "/tmp"], ["--deep", "--disk", "here"], ["--deep", "--python", "-c"]],
)
def test_options_that_do_not_go_together(words, capsys):
    assert run(["cluster", "doctor", *words]) == 2
    assert "--" in capsys.readouterr().err


def test_an_ssh_that_is_an_option_is_refused():
    from rigup.machine.collect.ssh import Failure

    with pytest.raises(Failure):
        by_ssh(["-oProxyCommand=x"], "python3")


def test_the_real_program_measures_a_disk_and_leaves_nothing_though_it_is_stopped_in_the_middle(tmp_path, monkeypatch):
    from rigup.workflows.cluster_talk import _BEGIN, _SHELL

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Talk({"n1": ["sh", "-c", _SHELL, "rigup", sys.executable, _BEGIN, "n1"]}) as talk:
        assert talk.begun(["n1"], 60) == {"n1"}
        talk.say(do="hello")
        found = talk.hear(Hello, ["n1"], 60)["n1"]
        assert not found.torch
        talk.say(do="disk", folders=[str(tmp_path)], seconds=0.1)
        (row,) = talk.hear(Disk, ["n1"], 60)["n1"].folders
        assert row.write > 0 < row.read
        assert [path.name[:11] for path in tmp_path.iterdir()] == ["rigup-node-"]
        peers = {"n2": {"addresses": ["127.0.0.1"], "port": 9}}
        talk.say(do="link", pairs=[["n2", "n1"]], peers=peers, word="w", round=0, seconds=1, limit=5, backend="gloo", bytes=4)
    assert list(tmp_path.iterdir()) == []


def test_a_python_that_is_not_there_is_told():
    from rigup.workflows.cluster_talk import _BEGIN, _SHELL

    with Talk({"n1": ["sh", "-c", _SHELL, "rigup", "/no/python", _BEGIN, "n1"]}) as talk:
        assert talk.begun(["n1"], 60) == {"n1"}
        found = measured(talk, ["n1"], 1.0, [], lambda _text: None)
    assert (found.proofs["n1"].state, found.silent) == ("unknown", {})


def test_an_error_that_is_no_number_is_still_heard():
    events = [
        *BEGUN,
        event("begin", device="cpu", check="sorting"),
        event("end", measured={"error": float("nan")}, seconds=0.1),
        event("done"),
    ]
    with Talk({"n1": node({"say": "verified", "events": events, "said": ""})}) as talk:
        assert talk.begun(["n1"], 20) == {"n1"}
        answer = talk.hear(Verified, ["n1"], 20)["n1"]
    assert str(answer.events[-2]["measured"]["error"]) == "nan"


def test_a_node_is_handed_every_file_of_the_probe():
    files = json.loads(zlib.decompress(base64.b64decode(cluster_talk.payload())))
    probe = {path.relative_to(PROBE).as_posix() for path in PROBE.rglob("*.py")}
    assert {name.removeprefix("verify/") for name in files if name.startswith("verify/")} == probe
    assert any("/" in name for name in probe)
