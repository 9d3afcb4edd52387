"""Slurm's answers of several releases, as text and as JSON: what is read, and that nothing foreign stops the reading."""

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.slurm.hostlist import expand, fold, natural
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump, Gpus, Request
from rigup.machine.slurm.words import array_tasks, duration, gres, moment, node_gpus, node_states, size, tres_gpus

FOLDER = Path(__file__).parent / "slurm_answers"


def dump_of(name: str) -> Dump:
    """What one file tells."""
    dump = read_answer((FOLDER / name).read_text())
    assert dump is not None
    return dump


def test_text_and_json_of_one_moment_tell_the_same() -> None:
    assert dump_of("sinfo.json").nodes == dump_of("scontrol_nodes.txt").nodes
    by_id = {job.id: job for job in dump_of("scontrol_jobs.txt").jobs or []}
    jobs = dump_of("squeue.json").jobs or []
    assert len(jobs) == 33
    assert [job for job in jobs if by_id[job.id] != job] == []


def test_records_of_text_and_json_agree_where_both_tell() -> None:
    by_id = {record.id: record for record in dump_of("sacct.txt").records or []}
    records = [record for record in dump_of("sacct.json").records or [] if record.id in by_id and record.state != "REQUEUED"]
    assert records
    for record in records:
        other = by_id[record.id]
        for name in ("name", "partition", "submit", "start", "time_limit", "nodes", "gpus", "cpus", "memory"):
            assert getattr(record, name) == getattr(other, name), (record.id, name)


def test_a_busy_cluster() -> None:
    nodes = {node.name: node for node in dump_of("sinfo.json").nodes or []}
    assert nodes["cuda01"].gpus == (Gpus("l40", 4, 4),)
    assert nodes["rocm06"].gpus == (Gpus("mi50", 8, 4),)
    assert nodes["rocm07"].states == ("IDLE", "DRAIN")
    assert nodes["rocm07"].reason == "GPU 3 hang: amdgpu ring gfx timeout"
    assert nodes["cuda01"].memory == 256000 << 20


def test_gpus_that_are_counted_nowhere_as_tres() -> None:
    nodes = {node.name: node for node in dump_of("slurmrestd-24.11-nodes.json").nodes or []}
    assert nodes["ia1"].gpus == (Gpus("h100", 2, 0), Gpus("h200", 4, 0))
    mixed = dump_of("slurmrestd-25.11-node-gpu-mixed.json")
    assert mixed.version == "25.11.0"
    assert (mixed.nodes or [])[0].gpus == (Gpus("h100", 4, 1),)
    untyped = {node.name: node for node in dump_of("slurmrestd-25.11-nodes.json").nodes or []}["gpu3"]
    assert untyped.gpus == (Gpus("", 4, 0),)


def test_jobs_of_newer_releases() -> None:
    job = (dump_of("slurmrestd-25.11-jobs.json").jobs or [])[0]
    assert (job.id, job.state, job.partitions, job.time_limit, job.nodes) == (5736, "CANCELLED", ("gpu",), 60, ("gpu1",))
    assert job.gpus == (Request("", 4),)
    het = (dump_of("squeue-json-torchx.json").jobs or [])[0]
    assert (het.het_job, het.state, het.end) == (204, "RUNNING", 1781220541)


def test_an_array_that_waits() -> None:
    for name in ("squeue.json", "scontrol_jobs.txt", "squeue_fmt.txt"):
        job = next(job for job in dump_of(name).jobs or [] if job.id == 27)
        assert (job.array_job, job.array_tasks, job.array_count, job.throttle) == (27, "0-9%2", 10, 2), name
        assert job.gpus_per_node == (Request("l40", 1),)
        assert job.pending


def test_partitions_and_reservations() -> None:
    cuda, _, scavenge = dump_of("scontrol_partitions.txt").partitions or []
    assert (cuda.default, cuda.max_time, cuda.max_nodes, cuda.tier, cuda.preempt_mode) == (True, 86400, None, 10, "REQUEUE")
    assert (scavenge.grace, len(scavenge.nodes), scavenge.allow_accounts) == (5, 12, ())
    normal = (dump_of("slurmrestd-25.11-partitions.json").partitions or [])[0]
    assert (normal.name, normal.max_time, normal.max_nodes, normal.nodes) == ("normal", 7200, None, ("cn1", "cn2", "cn3", "cn4"))
    (maintenance,) = dump_of("reservations.txt").reservations or []
    assert maintenance.flags == ("MAINT", "IGNORE_JOBS", "SPEC_NODES")
    assert maintenance.end is not None
    assert maintenance.start is not None
    assert maintenance.end - maintenance.start == 6 * 3600


def test_partitions_of_an_old_slurmrestd_are_flat() -> None:
    row = {
        "name": "atlas",
        "flags": ["default"],
        "state": "UP",
        "preemption_mode": ["requeue"],
        "preemption_grace_time": 5,
        "max_time_limit": -1,
        "default_time_limit": None,
        "maximum_nodes_per_job": 4,
        "min nodes per job": 0,
        "nodes": "n[1-3]",
        "total_nodes": 3,
        "priority_tier": 7,
        "priority_job_factor": 1,
        "allowed_accounts": "lab,ops",
        "denied_accounts": "",
        "allowed_groups": "",
        "qos": "",
    }
    dump = read_answer(json.dumps({"meta": {"Slurm": {"release": "22.05.9"}}, "partitions": [row]}))
    assert dump is not None
    assert dump.unread == {}
    (atlas,) = dump.partitions or []
    assert (atlas.nodes, atlas.tier, atlas.max_nodes, atlas.max_time, atlas.default) == (("n1", "n2", "n3"), 7, 4, None, True)
    assert (atlas.preempt_mode, atlas.grace, atlas.allow_accounts, atlas.deny_accounts) == ("REQUEUE", 5, ("lab", "ops"), ())


REFERENCE = Path(__file__).parents[3] / "shared"


@pytest.mark.machines
def test_every_kept_answer_of_newer_releases_is_read_whole() -> None:
    """slurmrestd of 24.05 to 25.11 and others: nothing is left out, and GPUs in use come to what jobs hold."""
    folders = [
        REFERENCE / "cluster/fixtures",
        REFERENCE / "machines/slurm/slurm-web/slurmrestd",
        REFERENCE / "machines/slurm/telegraf-rest",
    ]
    files = [path for folder in folders for path in sorted(folder.rglob("*.json"))]
    if not files:
        pytest.skip("the reference answers are not here")
    read = 0
    for path in files:
        dump = read_answer(path.read_text(errors="replace"))
        if dump is not None:
            read += 1
            assert dump.unread == {}, path
            for node in dump.nodes or []:
                assert all(gpus.allocated is None or 0 <= gpus.allocated <= gpus.total for gpus in node.gpus), path
    assert read > 200


def test_tables() -> None:
    assert [(node.name, node.states) for node in dump_of("sinfo_Nl.txt").nodes or []][-2:] == [
        ("rocm09", ("DOWN", "NOT_RESPONDING")),
        ("rocm10", ("MIXED",)),
    ]
    table = dump_of("sinfo.txt")
    assert {partition.name: partition.max_time for partition in table.partitions or []} == {
        "cuda": 86400,
        "rocm": 172800,
        "scavenge": 172800,
    }
    assert [job.reason for job in dump_of("squeue.txt").jobs or []][:3] == ["Priority", "Resources", "Priority"]


def test_the_configuration() -> None:
    dump = dump_of("scontrol_config.txt")
    assert (dump.cluster, dump.configuration["AuthType"]) == ("rigtest", "auth/none")


def test_an_item_of_foreign_shape_costs_itself_only() -> None:
    dump = read_answer(
        json.dumps({"nodes": [{"name": "a", "state": ["IDLE"]}, {"name": 7}, "x", None, {"name": "b", "cpus": {"set": "y"}}]})
    )
    assert dump is not None
    assert [node.name for node in dump.nodes or []] == ["a"]
    assert dump.unread == {"nodes": 4}


@pytest.mark.parametrize("around", ["slurm_load: warning\n{}", "{}\nsinfo: error: a {brace} behind"])
def test_warnings_around_the_json(around: str) -> None:
    dump = read_answer(around.replace("{}", '{"nodes": [{"name": "a", "tres_weighted": NaN}]}', 1))
    assert dump is not None
    assert [node.name for node in dump.nodes or []] == ["a"]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("gpu:l40:4(S:0-1),gpu:mi50:2,shard:8", {"l40": 4, "mi50": 2}),
        ("gpu:a100_1g.5gb:7(IDX:0,2-6),gpu:2", {"a100_1g.5gb": 7, "": 2}),
        ("gres:gpu:mi50:2", {"mi50": 2}),
        ("gres/gpu:1", {"": 1}),
        ("gres/gpu:h100=4", {"h100": 4}),
        ("gpu", {"": 1}),
        ("gpu:l40", {"l40": 1}),
        ("gpu:(null):0(IDX:N/A)", {"": 0}),
        ("mps:100", {}),
    ],
)
def test_gres(text: str, counts: dict[str, int]) -> None:
    assert gres(text) == counts


def test_used_gpus_without_a_type() -> None:
    assert node_gpus("gpu:a:2,gpu:b:2", "gpu:3(IDX:0-2)") == (Gpus("a", 2, 2), Gpus("b", 2, 1))
    assert node_gpus("gpu:a:2", None) == (Gpus("a", 2, None),)
    assert node_gpus("gpu:a:2", None, "cpu=1,gres/gpu=1", has_counts=True) == (Gpus("a", 2, 1),)
    assert tres_gpus("cpu=1,gres/gpu=4,gres/gpu:a=3") == (Request("a", 3), Request("", 1))


def test_small_words() -> None:
    assert [duration(text) for text in ("1-02:03:04", "2-12", "30:00", "90", "UNLIMITED", "00:00:01")] == [
        93784,
        216000,
        1800,
        5400,
        None,
        1,
    ]
    assert moment("2026-11-20T21:28:31", UTC) == 1795210111
    assert [moment(text) for text in ("Unknown", "N/A", "1795210111", "0")] == [None, None, 1795210111, None]
    assert [size("4000M"), size("62.50G"), size("12652K"), size("5")] == [4000 << 20, int(62.5 * 2**30), 12652 << 10, 5 << 20]
    assert node_states("IDLE+DRAIN") == ("IDLE", "DRAIN") == node_states("drain*")[:2] or node_states("drain") == ("DRAIN",)
    assert node_states("drng") == ("MIXED", "DRAIN")
    assert array_tasks("[0-9:3,20%4]") == (5, 4)


@given(st.sets(st.from_regex(r"\A(?:rack[0-9]{1,2})?[a-z]{1,4}[0-9]{0,4}(?:-ib)?\Z"), max_size=30))
def test_folded_names_expand_to_themselves(names: set[str]) -> None:
    folded = fold(names)
    assert sorted(expand(",".join(folded)), key=natural) == sorted(names, key=natural)


def test_ranges() -> None:
    assert expand("rack[1-2]n[08-10],login,x[3,5]-ib") == (
        "rack1n08",
        "rack1n09",
        "rack1n10",
        "rack2n08",
        "rack2n09",
        "rack2n10",
        "login",
        "x3-ib",
        "x5-ib",
    )
    assert len(expand("a[0-999999999]b[0-999999999]", 1000)) == 1000
    assert fold(["n10", "n09", "n11", "n8"]) == ["n8", "n[09-11]"]


@given(st.text(alphabet=st.sampled_from("[]-,0129ab \n"), max_size=60))
def test_no_text_stops_the_expansion(text: str) -> None:
    assert len(expand(text, 500)) <= 500


def _texts() -> st.SearchStrategy[str]:
    whole = [path.read_text() for path in sorted(FOLDER.iterdir())]
    small = [text[:4000] for text in whole]
    return st.sampled_from(small).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, 40), st.text(max_size=8)).map(
            lambda cut: text[: cut[0]] + cut[2] + text[cut[0] + cut[1] :]
        )
    )


@given(_texts() | st.text(max_size=200))
def test_no_damaged_answer_raises(text: str) -> None:
    dump = read_answer(text)
    if dump is not None:
        assert msgspec.json.decode(msgspec.json.encode(dump), type=Dump) == dump


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(["sinfo.json", "squeue.json", "sacct.json", "slurmrestd-25.11-jobs.json", "slurmrestd-25.11-partitions.json"]),
    st.data(),
)
def test_no_foreign_field_raises(name: str, data: st.DataObject) -> None:
    answer: dict[str, Any] = json.loads((FOLDER / name).read_text())
    kind = next(kind for kind in ("nodes", "jobs", "partitions") if isinstance(answer.get(kind), list))
    item = answer[kind][0]
    item[data.draw(st.sampled_from(sorted(item)))] = data.draw(_JSON)
    dump = read_answer(json.dumps({kind: [item]}))
    assert dump is not None
    values = getattr(dump, kind) if getattr(dump, kind) is not None else dump.records
    assert len(values or []) + sum(dump.unread.values()) == 1


@given(st.text(max_size=30))
def test_small_words_take_any_text(text: str) -> None:
    for read in (duration, moment, size, gres, tres_gpus, node_states, array_tasks):
        read(text)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("0", 0),
        ("512", 2),
        ("15", 143),
        ('{"status": "SIGNALED", "return_code": null, "signal": {"signal_id": 9, "name": "Killed"}}', 137),
        (
            '{"status": ["ERROR"], "return_code": {"set": true, "infinite": false, "number": 3}, "signal": {"id": {"set": false, "infinite": false, "number": 0}, "name": ""}}',
            3,
        ),
        ("null", None),
        ('"odd"', None),
    ],
)
def test_how_a_job_ended_is_read_in_each_releases_form(told: str, status: int | None) -> None:
    dump = read_answer('{"meta": {}, "jobs": [{"job_id": 7, "job_state": "FAILED", "exit_code": ' + told + "}]}")
    assert [job.exit for job in dump.jobs or []] == [status]
