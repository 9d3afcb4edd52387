"""`rigup chat` at a real terminal: what is seen, what keys do, and what happens when the server does not do well."""

import json
import os
import stat

import pytest
from loopback import Break, delta, finished, served

if os.name == "posix":
    from terminal import terminal

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals"), pytest.mark.slow]
READY = "› "


@pytest.fixture
def talk(tmp_path):
    """A terminal with a talk to a server."""

    def start(server, *words, **how):
        return terminal("chat", "--api", server.api, *words, XDG_STATE_HOME=str(tmp_path), HOME=str(tmp_path), **how)

    return start


def ready(shown):
    """The line for the next message is there."""
    return shown.until(lambda: any(line.startswith("›") for line in shown.lines()))


def asked(server, count):
    """The messages of the request of that number, once it has come."""
    return [one["content"] for one in server.asked[count - 1][2]["messages"]]


def test_an_answer_is_rendered_and_measured(talk):
    events = [delta("# Title\n\nSome **bold** text.\n\n"), delta("```python\nprint(1)\n```\n"), delta("`code` <b>kept</b>"), *finished()]
    with served(answer=lambda _body: events) as server, talk(server) as shown:
        ready(shown).send("hello\r")
        shown.until("context 14 of 512 (3 %)")
        text = shown.text()
        assert "Some bold text." in text
        assert "**" not in text
        assert "print(1)" in text
        assert "code <b>kept</b>" in text  # what looks like HTML does not vanish
        assert "3 tokens" in text
        assert "first after" in text
        shown.send("\x04")
        assert shown.status() == 0
    assert asked(server, 1) == ["hello"]


def test_it_is_seen_while_it_comes(talk):
    with served() as server:

        def slowly(_body):
            yield delta("First part, ")
            server.go_on.wait(30)
            yield delta("second part.")
            yield from finished()

        server.answer = slowly
        with talk(server) as shown:
            ready(shown).send("go\r")
            shown.until("First part,")
            assert "second" not in shown.text()
            server.go_on.set()
            shown.until("second part.")


def test_ctrl_c_stops_the_answer_and_not_the_program(talk):
    with served() as server:

        def endless(body):
            if len(body["messages"]) > 1:
                yield from (delta("Again."), *finished())
                return
            yield delta("Going on ")
            server.go_on.wait(30)
            yield delta("and on.")
            yield from finished()

        server.answer = endless
        with talk(server) as shown:
            ready(shown).send("go\r")
            shown.until("Going on")
            shown.send("\x03")
            shown.until("Stopped.")
            server.go_on.set()
            shown.send("more\r")
            shown.until("Again.")
            assert asked(server, 2) == ["go", "Going on ", "more"]
            shown.send("half a line\x03")  # at the prompt it clears the line
            shown.send("/quit\r")
            assert shown.status() == 0
    assert len(server.asked) == 2


def test_several_lines_are_one_message(talk):
    with served() as server, talk(server) as shown:
        ready(shown).send("one\x1b\rtwo\nthree\\\rfour")
        shown.until("four").send("\r")
        shown.until("tokens")
        shown.send("\x1b[200~pasted\nlines\x1b[201~")
        shown.until("lines").send("\r")
        shown.until(lambda: len(server.asked) == 2)
    assert asked(server, 1) == ["one\ntwo\nthree\nfour"]
    assert asked(server, 2)[-1] == "pasted\nlines"


def test_what_was_typed_is_there_in_the_next_talk_for_its_owner_alone(talk, tmp_path):
    with served() as server:
        with talk(server) as shown:
            ready(shown).send("remember me\r")
            shown.until("tokens").send("\x04")
            shown.status()
        with talk(server) as shown:
            ready(shown).send("\x1b[A")
            shown.until("› remember me")
        with talk(server, "--no-history") as shown:
            ready(shown).send("forget me\r")
            shown.until("tokens").send("\x04")
            shown.status()
    kept = tmp_path / "rigup" / "chat" / "history"
    assert kept.read_text() == '"remember me"\n'
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_commands_change_the_talk(talk, tmp_path):
    path = tmp_path / "talk.json"
    with served(models=("tiny", "other")) as server, talk(server) as shown:
        ready(shown).send("first\r")
        shown.until("tokens").send("/set temperature 0.25\r")
        shown.send("/set temperature hot\r")
        shown.until("not given 'hot'").send("/system be brief\r")
        shown.send("/retry\r")
        shown.until(lambda: len(server.asked) == 2)
        shown.until(lambda: shown.text().count("tokens/s") >= 1 or shown.text().count("3 tokens") >= 2).send("/model nothing\r")
        shown.until("no model nothing").send("/model other\r")
        shown.send("/edit\r")
        shown.until(lambda: shown.lines().count("› first") >= 1 and "› /edit" in shown.text()).send(" changed\r")
        shown.until(lambda: len(server.asked) == 3).send(f"/save {path}\r")
        shown.until("Saved to").send(f"/save {path}\r")
        shown.until("/save!").send("/clear\r")
        shown.until("forgotten").send(f"/load {path}\r")
        shown.until("2 messages").send("last\r")
        shown.until(lambda: len(server.asked) == 4).send("/nothing\r")
        shown.until("no command /nothing").send("//slash\r")
        shown.until(lambda: len(server.asked) == 5)
    assert asked(server, 2) == ["be brief", "first"]
    assert server.asked[1][2]["temperature"] == 0.25
    assert asked(server, 3) == ["be brief", "first changed"]
    assert server.asked[2][2]["model"] == "other"
    assert asked(server, 4) == ["be brief", "first changed", "Hello there.", "last"]
    assert asked(server, 5)[-1] == "/slash"
    assert json.loads(path.read_text())["messages"][0]["text"] == "first changed"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_and_images_go_with_the_next_message_alone(talk, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "a.log").write_text("boom")
    with served() as server, talk(server) as shown:
        ready(shown).send(f"/image {tmp_path}/a.png\r")
        shown.until("does not see").send(f"/file {tmp_path}/a.log\r")
        shown.until("2 attached").send("what?\r")
        shown.until("tokens").send("and now?\r")
        shown.until(lambda: len(server.asked) == 2)
    first, second = (server.asked[number][2]["messages"][-1]["content"] for number in (0, 1))
    assert first[0]["text"] == "what?\n\n--- a.log ---\nboom"
    assert first[1]["type"] == "image_url"
    assert second == "and now?"


def test_a_server_that_goes_away_is_told_and_the_talk_goes_on_when_it_is_back(talk):
    def torn(body):
        yield delta("Half")
        if len(body["messages"]) == 1:
            raise Break
        yield from finished()

    with served(answer=torn) as server, talk(server) as shown:
        ready(shown).send("x\r")
        shown.until("gone in the middle").until("/retry asks again")
        server.answer = lambda _body: [delta("Whole."), *finished()]
        shown.send("/retry\r")
        shown.until("Whole.")
        server.close()
        shown.send("y\r")
        shown.until("Nobody answers").send("/quit\r")
        assert shown.status() == 0


def test_nobody_there_is_told_at_once(talk):
    with served() as server:
        pass
    with talk(server) as shown:
        assert shown.status() == 1
        assert "Nobody answers" in shown.text()


def test_what_a_server_sends_does_nothing_to_the_terminal(talk):
    hostile = "\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x1b[2J\x1b[?1049h\x9b31m\x1bP+q\x1b\\"
    events = [
        delta("Safe " + hostile),
        delta("\x1b"),
        delta("[31m more\n\n"),
        delta("[link](http://evil.example/\x1b]8;;x\x07) `" + hostile + "`"),
        *finished(),
    ]
    with served(answer=lambda _body: events, models=("tiny\x1b]0;owned\x07",)) as server, talk(server, columns=200) as shown:
        ready(shown).send("x\r")
        shown.until("tokens").send("/model\r")
        shown.until("* tiny")
        for command in (b"\x1b]0;", b"\x1b]52", b"\x1b[?1049h", b"\x1bP", b"\x1b]8;", b"\x9b"):
            assert command not in shown.raw
        assert "Safe \\u001b]0;owned" in shown.text()


def test_keys_that_are_typed_while_an_answer_comes_are_there_afterwards(talk):
    with served() as server:

        def slowly(body):
            yield delta(f"Answer {len(body['messages'])}. ")
            if len(body["messages"]) == 1:
                server.go_on.wait(30)
            yield from finished()

        server.answer = slowly
        with talk(server) as shown:
            ready(shown).send("one\r")
            shown.until("Answer 1.")
            shown.send("typed early\r")
            shown.until(lambda: shown._pump(0.3) is False)  # whatever would be echoed is there now
            assert "typed early" not in shown.text()
            server.go_on.set()
            shown.until("Answer 3.")
    assert asked(server, 2)[-1] == "typed early"


@pytest.mark.parametrize("words", [["--plain"], []], ids=["plain", "dumb"])
def test_without_markdown_letters_come_as_they_are(talk, words):
    how = {} if words else {"TERM": "dumb"}
    with served(answer=lambda _body: [delta("**bold**\n"), *finished()]) as server, talk(server, *words, **how) as shown:
        ready(shown).send("x\r")
        shown.until("**bold**").until("tokens").send("/quit\r")
        assert shown.status() == 0


def test_one_answer_at_a_terminal_can_be_stopped(talk):
    with served() as server:

        def endless(_body):
            yield delta("Going on ")
            server.go_on.wait(30)

        server.answer = endless
        with talk(server, "tiny", "x") as shown:
            shown.until("Going on")
            shown.send("\x03")
            assert shown.status() == 130
            assert "Stopped." in shown.text()
