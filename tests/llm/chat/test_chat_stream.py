"""What a server sends becomes pieces of text, however it is cut, or a sentence about what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.llm.chat.stream import End, EndpointError, pieces


def events(*told, done=True):
    body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in told)
    return body + (b"data: [DONE]\n\n" if done else b"")


def said(text, **more):
    return {"choices": [{"delta": {"content": text, **more}}]}


def cut(body, places):
    ends = sorted({*(place % (len(body) + 1) for place in places), len(body)})
    return [body[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def read(body, places=()):
    end = End()
    found = list(pieces(cut(body, places), end))
    return "".join(one.text for one in found if not one.thought), "".join(one.text for one in found if one.thought), end


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=8), st.lists(st.integers(0, 2000), max_size=12))
def test_text_is_the_same_however_it_is_cut(texts, places):
    whole = "".join(texts)
    if whole.lstrip().startswith("<"):
        whole, texts = "x" + whole, ["x", *texts]
    assert read(events(*map(said, texts)), places)[0] == whole


@given(st.text("ab\n<>/thinkxyz ", max_size=40), st.text("cd\n ", max_size=40), st.lists(st.integers(0, 200), max_size=30))
def test_thought_at_the_beginning_is_parted_off(thought, answer, places):
    thought = thought.replace("</think>", "")
    body = f"<think>{thought}</think>{answer}"
    parts = cut(body.encode(), places)
    text, thinking, _end = read(events(*(said(part.decode()) for part in parts if part)))
    assert (thinking, text.lstrip("\n")) == (thought, answer.lstrip("\n"))


def test_what_a_server_parts_off_itself_is_thought_too():
    assert read(events(said("", reasoning_content="hm"), said("yes", reasoning=None)))[:2] == ("yes", "hm")
    assert read(events(said("a <think> b")))[0] == "a <think> b"
    assert read(events(said("<th")))[0] == "<th"


def test_usage_and_end_are_kept():
    used = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1}}}
    end = read(events(said("a"), {"choices": [{"delta": {}, "finish_reason": "length"}]}, used))[2]
    assert (end.finish, end.usage.prompt, end.usage.completion, end.usage.cached) == ("length", 5, 7, 1)
    assert end.speed is None


@pytest.mark.parametrize(("timed", "speed"), [(12.5, 12.5), (3, 3.0), (True, None), (-1, None), (1e9, None), ("9", None)])
def test_the_server_has_timed_its_tokens(timed, speed):
    told = {"choices": [], "timings": {"predicted_per_second": timed}}
    assert read(events(said("a"), told))[2].speed == speed


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (events(said("a"), done=False), "gone", "broke off"),
        (b"", "gone", "broke off"),
        (events({"error": {"message": "out of memory"}}), "refused", "out of memory"),
        (b'error: {"message": "slot is gone"}\n\n', "refused", "slot is gone"),
        (events({"error": None} | {"error": {}}), "refused", "does not say why"),
        (b"data: <html>\n\n", "nonsense", "no JSON"),
        (b"data: " + b"[" * 200_000 + b"\n\n", "nonsense", "no JSON"),
    ],
    ids=["no-end", "nothing", "error", "error-line", "empty-error", "html", "deep"],
)
def test_what_is_no_whole_answer_is_told(body, kind, words):
    with pytest.raises(EndpointError, match=words) as refused:
        read(body)
    assert refused.value.kind == kind


def test_a_line_without_an_end_is_not_waited_for():
    with pytest.raises(EndpointError, match="without an end"):
        list(pieces((b"x" * 1_000_000 for _n in range(10)), End()))


def test_an_answer_without_an_end_is_stopped():
    endless = (b"data: " + json.dumps(said("y" * 1_000_000)).encode() + b"\n" for _n in range(100))
    with pytest.raises(EndpointError, match="longer than any answer"):
        list(pieces(endless, End()))


def test_an_end_without_the_last_word_is_an_end():
    assert read(events(said("a"), {"choices": [{"delta": {}, "finish_reason": "stop"}]}, done=False))[0] == "a"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "delta", "message", "content", "usage", "prompt_tokens", "finish_reason", "prompt_tokens_details"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_no_shape_of_an_event_is_a_fault_of_ours(event):
    read(events(event))
