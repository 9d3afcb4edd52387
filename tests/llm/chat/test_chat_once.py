"""`rigup chat` from a script: one question, one answer, on what it stands, and with which exit status it ends."""

import contextlib
import io
import json

import pytest
from loopback import Break, delta, finished, served

from rigup.cli import run

KEY = "sk-very-secret-0123456789"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1m\r\x08\u202e"


class Typed(io.StringIO):
    """Standard input at a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def asked(capsys, monkeypatch):
    """What a command line says, and how it ends; standard input is a terminal unless something is piped in."""

    def ask(*words, piped=None):
        if piped is None:
            monkeypatch.setattr("sys.stdin", Typed())
        else:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped)))
        status = run(["chat", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return ask


def test_an_answer_and_nothing_else_stands_on_standard_output(asked):
    with served() as server:
        assert asked("tiny", "hi", "you", "--api", server.api) == (0, "Hello there.\n", "")
    path, headers, body = server.asked[0]
    assert path == "/v1/chat/completions"
    assert "Authorization" not in headers
    assert body["messages"] == [{"role": "user", "content": "hi you"}]
    assert body["model"] == "tiny"


def test_what_is_piped_in_comes_behind_the_question(asked, tmp_path):
    (tmp_path / "more.txt").write_text("more")
    with served() as server:
        assert asked("tiny", "why?", "--api", server.api, "--file", str(tmp_path / "more.txt"), piped=b"error \xff 1\n")[0] == 0
        assert asked("--api", server.api, piped=b"only this\n")[0] == 0
    [first, second] = [body["messages"][0]["content"] for _path, _headers, body in server.asked]
    assert first == "why?\n\n--- more.txt ---\nmore\n\n--- standard input ---\nerror \ufffd 1\n"
    assert second == "only this"
    assert server.asked[1][2]["model"] == "tiny"  # the endpoint's first


def test_the_answer_as_data_with_what_it_took(asked):
    events = [delta("", reasoning_content="hm"), delta("yes"), *finished()]
    with served(answer=lambda _body: events) as server:
        status, out, err = asked("tiny", "x", "--api", server.api, "--json", "--set", "top-k=3", "--set", "typical=0.9")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert told["schema"] == "rigup.chat/1"
    assert (told["verdict"], told["answer"], told["thought"], told["finish"]) == ("whole", "yes", "hm", "stop")
    assert told["usage"] == {"prompt": 11, "completion": 3, "cached": 2}
    assert (told["context"], told["not_sent"]) == (512, [])
    assert (server.asked[0][2]["top_k"], server.asked[0][2]["typical_p"]) == (3, 0.9)


def test_what_an_endpoint_does_not_take_is_not_sent_and_that_is_told(asked):
    with served(owner="openai", props={}) as server:
        status, _out, err = asked("tiny", "x", "--api", server.api, "--set", "top-k=3", "--set", "temperature=0")
    assert status == 0
    assert "does not take top-k" in err
    assert "top_k" not in server.asked[0][2]
    assert server.asked[0][2]["temperature"] == 0


def test_system_prompt_grammar_and_image_are_sent(asked, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "g.gbnf").write_text('root ::= "yes"')
    with served() as server:
        asked(
            "tiny",
            "x",
            "--api",
            server.api,
            "--system",
            "be brief",
            "--image",
            str(tmp_path / "a.png"),
            "--set",
            f"grammar=@{tmp_path}/g.gbnf",
        )
    body = server.asked[0][2]
    assert body["messages"][0] == {"role": "system", "content": "be brief"}
    assert body["messages"][1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert body["grammar"] == 'root ::= "yes"'


def broken(_body):
    yield delta("Half of ")
    raise Break


def ends_early(_body):
    yield delta("Half of ")


def fails_within(_body):
    yield delta("Half of ")
    yield {"error": {"message": "out of memory"}}


@pytest.mark.parametrize(
    ("answer", "words"),
    [(broken, "gone in the middle"), (ends_early, "broke off in the middle"), (fails_within, "out of memory")],
    ids=["torn", "ended", "error"],
)
def test_an_answer_that_breaks_off_is_told_and_what_came_of_it_stays(asked, answer, words):
    with served(answer=answer) as server:
        status, out, err = asked("tiny", "x", "--api", server.api)
        assert (status, out) == (1, "Half of \n")
        assert words in " ".join(err.split())
        status, out, _err = asked("tiny", "x", "--api", server.api, "--json")
    told = json.loads(out)
    assert (status, told["verdict"], told["answer"]) == (1, "broken-off", "Half of ")
    assert words in told["because"]


TOO_LONG = {"error": {"code": 400, "type": "exceed_context_size_error", "message": "request (900 tokens) exceeds the context (512)"}}


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((400, TOO_LONG), "900 tokens) exceeds the context (512)"),
        ((500, b"<html>oops"), "HTTP status 500"),
        ((503, {"error": {"message": "Loading model"}}), "Loading model"),
        ((404, {"detail": "Not Found"}), "no such model or address"),
        ((302, {}), "HTTP status 302"),
        ((200, {"error": "no"}), "The server says: no"),
        ((200, b"not json"), "no JSON"),
        ((400, {"error": {"message": ESCAPES}}), "The server says"),
    ],
)
def test_a_refusal_is_told_in_its_own_words(asked, answer, words):
    with served(answer=lambda _body: answer) as server:
        status, out, err = asked("tiny", "x", "--api", server.api)
    assert (status, out) == (1, "")
    assert words in " ".join(err.split())
    assert "\x1b" not in err


def test_a_server_that_answers_at_once_is_understood_too(asked):
    whole = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    with served(answer=lambda _body: (200, whole)) as server:
        assert asked("tiny", "x", "--api", server.api)[:2] == (0, "whole\n")


def test_one_that_was_cut_at_its_longest_is_told(asked):
    with served(answer=lambda _body: [delta("a"), *finished("length")]) as server:
        status, out, err = asked("tiny", "x", "--api", server.api)
    assert (status, out) == (0, "a\n")
    assert "cut at its longest" in " ".join(err.split())


def test_what_a_server_sends_commands_no_terminal(asked):
    with served(answer=lambda _body: [delta("a"), delta(ESCAPES), delta("b"), *finished()]) as server:
        _status, out, _err = asked("tiny", "x", "--api", server.api)
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert out.startswith("a\\u001b]0;owned\\u0007")


def test_nobody_there_is_told(asked):
    status, out, err = asked("tiny", "x", "--api", "http://127.0.0.1:9")
    assert (status, out) == (1, "")
    assert "Nobody answers at http://127.0.0.1:9/v1" in " ".join(err.split())


@pytest.mark.parametrize("how", [[], ["--json"]], ids=["text", "data"])
def test_a_key_goes_to_the_endpoint_and_nowhere_else(asked, monkeypatch, how):
    monkeypatch.setenv("MY_KEY", KEY)
    with served(key=KEY, answer=lambda _body: (400, {"error": {"message": "your key " + KEY}})) as server:
        status, out, err = asked("tiny", "x", "--api", server.api, "--key-env", "MY_KEY", *how)
    assert status == 1
    assert server.asked[0][1]["Authorization"] == "Bearer " + KEY
    assert "your key …" in out + err
    assert KEY not in out + err


def test_a_wrong_key_and_a_missing_one_are_told(asked, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-of-another-place")
    with served(key=KEY) as server:
        status, _out, err = asked("tiny", "x", "--api", server.api, "--key-env", "MY_KEY")
        assert status == 1
        assert "--key-env" in err
        assert "wrong key Bearer …" in " ".join(err.split())
    monkeypatch.setenv("EMPTY", "")
    for name in ("EMPTY", "NO_SUCH"):
        status, _out, err = asked("tiny", "x", "--api", server.api, "--key-env", name)
        assert (status, f"{name} is not set" in err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ["--api", "ftp://x", "-m", "x"],
        ["--api", "http://", "-m", "x"],
        ["--api", "http://h:99999", "-m", "x"],
        ["--api", "http://me:secret@h/v1", "-m", "x"],
        ["tiny", "x", "--api", "http://127.0.0.1:9", "--set", "temperature"],
        ["tiny", "x", "--api", "http://127.0.0.1:9", "--set", "temperature=hot"],
        ["tiny", "x", "--api", "http://127.0.0.1:9", "--image", "/no/such"],
        ["tiny", "x", "--api", "http://127.0.0.1:9", "--load", "/no/such"],
    ],
)
def test_a_wrong_request_is_told_before_anybody_is_asked(asked, words):
    status, out, err = asked(*words)
    assert status in (1, 2)
    assert out == ""
    assert "secret" not in err  # neither the one that was typed, nor the mark of one that was taken out of a sentence of ours
    assert "Nobody answers" not in err


def test_nothing_to_ask_is_told(asked):
    with served() as server:
        status, _out, err = asked("tiny", "--api", server.api, piped=b" \n")
    assert status == 2
    assert "nothing to ask" in err
    assert server.asked == []


def test_a_talk_that_was_kept_goes_on(asked, tmp_path):
    from rigup.llm.chat.conversation import Conversation, Message, save

    path = str(tmp_path / "talk.json")
    save(Conversation(model="tiny", messages=[Message(role="user", text="a"), Message(role="assistant", text="b")]), path)
    with served() as server:
        assert asked("--api", server.api, "--load", path, "-m", "c")[0] == 0
    assert [one["content"] for one in server.asked[0][2]["messages"]] == ["a", "b", "c"]


def test_without_its_parts_it_says_what_to_install(asked, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "httpx" else found(name))
    status, _out, err = asked("tiny", "x", "--api", "http://127.0.0.1:9")
    assert status == 2
    assert "needs httpx" in err
    assert "rigup[llm]" in err


def test_an_endpoint_elsewhere_is_warned_of_where_the_key_goes_unencrypted():
    from rigup.llm.chat.endpoint import Endpoint

    assert Endpoint("http://example.org", KEY).unprotected
    assert not Endpoint("http://127.0.0.1:8080", KEY).unprotected
    assert not Endpoint("https://example.org", KEY).unprotected
    assert not Endpoint("http://example.org").unprotected


@pytest.mark.parametrize(("lengths", "context"), [((4096, 4096), 4096), ((4096, 8192), None), ((4096, None), None), (([], "9"), None)])
def test_a_context_is_known_where_every_model_of_an_endpoint_has_it(lengths, context):
    from rigup.llm.chat.endpoint import Endpoint

    with served(models=("a", "b"), owner="rigup", props={}) as server:
        for one, length in zip(server.models["data"], lengths, strict=True):
            one["max_model_len"] = length
        with contextlib.closing(Endpoint(server.api + "/v1")) as endpoint:
            assert endpoint.look().context == context
