"""What was measured, judged: each kind of check from both sides, and nonsense without an exception."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.verify import judge as judging
from rigup.verify.observe import recorded

MIB = 1 << 20
GOOD = {"mean": 0.001, "deviation": 1.001, "least": 1e-5, "most": 0.9999, "middle": 0.5, "kept": 1.0}


def judge(name, record):
    return msgspec.to_builtins(judging.judge(name, recorded(record)))


def judged(name, **measured):
    check = judge(name, {"measured": measured, "seconds": 0.5})
    return check.get("passed"), check.get("because", "")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("matmul-float32", 2e-6, 1e-4),
        ("matmul-tf32", 2e-3, 2e-2),
        ("matmul-float16", 2e-3, 5e-2),
        ("matmul-bfloat16", 1e-2, 0.2),
        ("matmul-float64", 1e-14, 1e-9),
        ("convolution", 1e-5, 1e-3),
    ],
)
def test_each_type_has_its_own_room(name, good, bad):
    assert judged(name, errors={"result": good}) == (True, "")
    passed, because = judged(name, errors={"result": bad})
    assert passed is False
    assert "off by" in because


def test_the_worst_of_all_errors_decides():
    check = judge("convolution", {"measured": {"errors": {"plain": 1e-6, "strided": 0.4}}})
    assert check["measured"] == {"error": 0.4, "of": "strided"}


def test_entries_that_python_summed_count_like_any_other():
    assert judged("matmul-float32", errors={"all": 0.0}, samples=1e-3)[0] is False


def test_a_float32_that_is_tf32_in_secret_is_told_as_such():
    assert "shorter type" in judged("matmul-float32", errors={"result": 1e-3})[1]
    assert "shorter type" not in judged("matmul-float32", errors={"result": 0.9})[1]


def test_what_is_no_number_is_wrong():
    for value in (math.inf, math.nan, None, "text"):
        assert judged("matmul-float32", errors={"result": value})[0] is False


def test_results_elsewhere_fail_whatever_their_numbers():
    passed, because = judged("sorting", wrong=[], elsewhere=["sorted on cpu", "sorted on cpu"])
    assert passed is False
    assert "sorted on cpu." in because


def test_wrong_results_are_named():
    assert judged("sorting", wrong=[]) == (True, "")
    assert "topk" in judged("sorting", wrong=["topk"])[1]


def test_random_numbers():
    assert judged("random", statistics=GOOD, repeats=True, differs=True)[0] is True
    assert "repeats" in judged("random", statistics=GOOD, repeats=False, differs=True)[1]
    assert "deviation" in judged("random", statistics={**GOOD, "deviation": 0.5}, repeats=True, differs=True)[1]


def memory(kept=0, grown=0, **more):
    counters = {"before": {"resident": 100}, "after": {"resident": 100 + kept}}
    return judged("memory", asked=256 * MIB, leak={"made": 96 * MIB, "grown": {"resident": grown}}, **counters, **more)


def test_memory():
    assert memory()[0] is True
    assert memory(kept=8 * MIB, grown=4 * MIB)[0] is True
    assert "not given back" in memory(kept=200 * MIB)[1]
    assert "leaks" in memory(grown=90 * MIB)[1]
    assert memory(wrong=[3])[0] is False


def test_what_the_whole_card_counts_is_others_as_well():
    leak = {"made": 96 * MIB, "grown": {"used": 90 * MIB, "memory_allocated": 0}}
    assert judged("memory", asked=256 * MIB, before={"used": 0}, after={"used": 900 * MIB}, leak=leak)[0] is True


def evidence(**changed):
    return judged("evidence", **{"asked": 64 * MIB, "taken": {"used": 64 * MIB}, "rate": 1e13, "cpu_rate": 1e12, **changed})


def test_evidence():
    assert evidence()[0] is True
    assert "did not grow" in evidence(taken={"used": 0, "memory_allocated": 0})[1]
    assert "clock" in evidence(events={"device": 0.0, "host": 0.1})[1]
    assert evidence(events={"device": 0.01, "host": 0.02})[0] is True
    assert "times as fast" in evidence(rate=1e10)[1]


BY_THE_CPU = {"same_bits": True, "cpu_share": 1.0, "host_grown": 64 * MIB, "by_the_build": False}


def test_what_the_processor_did_under_another_name_is_told():
    passed, because = evidence(**BY_THE_CPU)
    assert passed is False
    assert "The processor did the work" in because


@pytest.mark.parametrize("one", ["same_bits", "cpu_share", "host_grown"])
def test_where_one_sign_is_missing_it_cannot_be_told(one):
    passed, because = evidence(**{**BY_THE_CPU, one: None})
    assert passed is None
    assert "cannot be told" in because


@pytest.mark.parametrize(
    "told",
    [
        {"same_bits": False, "cpu_share": 0.9, "host_grown": 0, "by_the_build": True},  # waits for it in a busy loop
        {"same_bits": False, "cpu_share": 0.01, "host_grown": 64 * MIB, "taken": {}},  # shares the main memory
        {"same_bits": False, "cpu_share": 0.01, "host_grown": None, "taken": {}},  # a system that tells no memory
        {"same_bits": False, "cpu_share": 0.8, "host_grown": 0, "by_the_build": False},
    ],
)
def test_a_device_that_something_speaks_for_is_not_accused(told):
    assert evidence(**told)[0] is True


def test_counters_that_a_backend_keeps_itself_are_not_enough():
    assert evidence(same_bits=False, cpu_share=0.9, host_grown=64 * MIB, by_the_build=False)[0] is None


def test_a_framework_whose_use_of_the_processor_is_unknown_is_judged_by_speed():
    assert evidence(taken={}, rate=9e11)[0] is None
    assert evidence(taken={})[0] is True


def operators(*cases, **more):
    check = judge("activations", {"measured": {"cases": list(cases), "raised": [], "without": [], **more}})
    return check.get("passed"), check.get("because", ""), check.get("measured")


def test_an_operator_has_the_room_of_its_type():
    assert operators(["gelu", "float32", "forward", 1e-6, "", 1.0])[0] is True
    passed, because, measured = operators(
        ["relu", "float32", "forward", 0.0, "", 1.0], ["gelu", "float16", "backward", 2.0, "gradient 1, strided", 2.0]
    )
    assert passed is False
    assert "gelu backward in float16 (gradient 1, strided) is off by 2.0e+00" in because
    assert measured["failed"] == ["gelu backward in float16 (gradient 1, strided)"]


def test_whole_numbers_have_no_room():
    assert operators(["integer add", "int8", "forward", 0.0, "", 1.0])[0] is True
    assert operators(["integer add", "int8", "forward", 1e-9, "", 1.0])[0] is False


def test_an_operator_that_ends_with_an_error_is_named():
    passed, because, measured = operators(raised=[["gelu", "float32", "forward", "RuntimeError: no kernel image"]])
    assert (passed, measured["type"]) == (False, "RuntimeError")
    assert "gelu float32 forward: RuntimeError: no kernel image" in because


def test_where_nothing_can_be_computed_nothing_is_judged():
    assert operators(without=["gelu float64"])[0] is None


def test_training():
    assert judged("training", accuracy=0.97)[0] is True
    assert "12 %" in judged("training", accuracy=0.12)[1]
    assert judged("training", accuracy=math.nan)[0] is False


@pytest.mark.parametrize(("why", "word"), [("hung", "hung"), ("memory", "memory"), ("signal", "SIGSEGV"), ("status", "11")])
def test_how_a_process_died_is_told(why, word):
    check = judge("sorting", {"died": why, "number": 11, "seconds": 2.0})
    assert check["passed"] is False
    assert word in check["because"]


def test_an_error_is_told_by_its_first_line():
    check = judge("attention", {"error": {"type": "RuntimeError", "text": "HIP error: invalid device function\nmore"}})
    assert (check["passed"], check["because"]) == (False, "RuntimeError: HIP error: invalid device function")


def test_what_a_device_has_no_part_of_is_not_judged():
    check = judge("matmul-float8", {"skipped": "the chip has no float8", "seconds": 0.1})
    assert check == {"name": "matmul-float8", "seconds": 0.1, "because": "the chip has no float8"}


def warned(*warnings):
    check = judging.fallbacks({"a": recorded({"warnings": list(warnings)}), "b": recorded({})})
    return check and msgspec.to_builtins(check)


def test_operators_that_ran_on_the_cpu_are_named():
    mps = "The operator 'aten::unique2' is not currently supported on the MPS backend and will fall back to run on the CPU."
    dml = "The operator 'aten::sort.values' is not currently supported on the DML backend and will fall back to run on the CPU. This may have performance implications."
    assert warned(mps, dml, mps)["measured"]["operators"] == ["aten::sort.values", "aten::unique2"]
    assert warned("An NVIDIA GPU may be present on this machine, but falling back to cpu.")["passed"] is False
    assert warned("The operator 'aten::sort' is deprecated.") is None
    assert warned() is None


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from(
    [
        "errors",
        "samples",
        "half",
        "wrong",
        "elsewhere",
        "statistics",
        "asked",
        "before",
        "after",
        "leak",
        "taken",
        "rate",
        "cpu_rate",
        "events",
        "accuracy",
    ]
)


@given(
    st.sampled_from(["random", "memory", "evidence", "training", "matmul-float32", "sorting"]), st.dictionaries(KEYS, NONSENSE) | NONSENSE
)
def test_whatever_a_probe_says_is_judged(name, measured):
    check = judge(name, {"measured": measured, "seconds": 0.0})
    assert check["name"] == name
    assert check.get("passed") in (True, False, None)


@given(st.lists(st.text(max_size=300), max_size=5))
def test_whatever_warnings_say_is_read(warnings):
    check = warned(*warnings)
    assert check is None or check["passed"] is False


def test_all_that_is_off_is_named_and_no_operator_hides_another():
    errors = {"median float64": 2.0, "std float64": 0.5, "std float32": 0.5, "sum float64": 0.0}
    check = judge("reductions", {"measured": {"errors": errors, "wrong": ["count int8"]}, "seconds": 0.1})
    assert check["passed"] is False
    assert check["measured"]["of"] == "median float64"
    assert check["measured"]["failed"] == ["median float64", "count int8", "std float64", "std float32"]
    assert all(name in check["because"] for name in ("median float64", "count int8", "std float64"))
    assert "sum" not in check["because"]
