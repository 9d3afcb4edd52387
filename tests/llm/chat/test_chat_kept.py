"""What is kept of a talk: the talk itself in a file, what was typed, files and images that are attached."""

import json
import os
import stat

import pytest

from rigup.llm.chat import history
from rigup.llm.chat.conversation import Conversation, ConversationError, Message, load, picture_of, save, text_of, with_files

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("platformdirs.user_state_path", lambda _name: tmp_path / "state" / "rigup")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=["open", "closed"])
def test_what_was_typed_is_found_again_newest_first_by_its_owner_alone(umask):
    before = os.umask(umask)
    try:
        for text in ("one", "two\nlines", "ünï\x1b[31m"):
            history.add(text)
    finally:
        os.umask(before)
    assert list(history.lines()) == ["ünï\x1b[31m", "two\nlines", "one"]
    if os.name == "posix":
        assert mode(history.path()) == 0o600
        assert mode(history.path().parent) & 0o077 == 0


def test_an_open_file_of_it_is_closed_and_a_link_is_not_followed(tmp_path):
    history.path().parent.mkdir(parents=True)
    history.path().write_text("")
    history.path().chmod(0o644)
    history.add("mine")
    assert mode(history.path()) == 0o600
    history.path().unlink()
    (tmp_path / "other").write_text('"theirs"\n')
    history.path().symlink_to(tmp_path / "other")
    history.add("mine")
    assert list(history.lines()) == []
    assert (tmp_path / "other").read_text() == '"theirs"\n'


def test_the_history_does_not_grow_without_end_and_a_broken_line_costs_itself():
    for number in range(60):
        history.add(f"{number} " + "x" * 90_000)
    assert history.path().stat().st_size < 5_000_000
    assert next(history.lines()).startswith("59 ")
    with history.path().open("ab") as file:
        file.write(b'"cut off\n[1]\n\xff\xfe\n')
    assert next(history.lines()).startswith("59 ")
    history.add("x" * 200_000)  # a whole file that was pasted is nothing to be typed again
    history.add("  ")
    assert next(history.lines()).startswith("59 ")


def test_where_nothing_can_be_kept_the_talk_goes_on(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("platformdirs.user_state_path", lambda _name: tmp_path / "file" / "rigup")
    history.add("lost")
    assert list(history.lines()) == []


def talk():
    return Conversation(
        model="tiny",
        settings={"temperature": 0.5, "system": "be brief"},
        messages=[
            Message(role="user", text="hi", images=["data:image/png;base64,AA=="]),
            Message(role="assistant", text="ho", thought="hm", cut=True),
        ],
    )


def test_a_talk_is_the_same_when_it_is_read_again(tmp_path):
    path = str(tmp_path / "talk.json")
    save(talk(), path)
    assert mode(path) == 0o600
    assert load(path) == talk()
    with pytest.raises(FileExistsError):
        save(talk(), path)
    save(Conversation(), path, replace=True)
    assert load(path).messages == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"schema": "other/1"}',
        b'{"messages": [{"role": "system", "text": ""}]}',
        b'{"messages": [{"text": 1}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"settings": {"no such": 1}}',
        b'{"messages": 5}',
    ],
)
def test_a_file_that_is_no_talk_is_refused(tmp_path, body):
    (tmp_path / "talk.json").write_bytes(body)
    with pytest.raises(ConversationError, match=r"talk\.json holds no conversation"):
        load(str(tmp_path / "talk.json"))


def test_a_talk_of_somebody_else_sends_nobody_to_an_address(tmp_path):
    told = {
        "messages": [
            {"role": "user", "text": "x", "images": ["http://evil.example/x.png", "file:///etc/passwd", "data:image/png;base64,AA=="]}
        ]
    }
    (tmp_path / "talk.json").write_text(json.dumps(told))
    assert load(str(tmp_path / "talk.json")).messages[0].images == ["data:image/png;base64,AA=="]


def test_what_an_endpoint_is_sent():
    assert talk().sent() == [
        {"role": "system", "content": "be brief"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
        },
        {"role": "assistant", "content": "ho"},
    ]


def test_the_last_question_goes_with_all_that_came_after_it():
    said = talk()
    assert said.taken_back().text == "hi"
    assert said.messages == []
    assert said.taken_back() is None


@pytest.mark.parametrize(("body", "kind"), [(PNG, "png"), (b"\xff\xd8\xff\xe0", "jpeg"), (b"GIF89a", "gif"), (b"RIFF0000WEBPVP8 ", "webp")])
def test_an_image_is_known_by_what_it_holds(tmp_path, body, kind):
    (tmp_path / "picture.txt").write_bytes(body)
    assert picture_of(str(tmp_path / "picture.txt")).startswith(f"data:image/{kind};base64,")


def test_what_is_no_image_or_no_text_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(b"<svg onload=x>")
    with pytest.raises(ConversationError, match="no image"):
        picture_of(str(tmp_path / "a.png"))
    with pytest.raises(ConversationError, match="No such file"):
        picture_of(str(tmp_path / "none.png"))
    with pytest.raises(ConversationError):
        text_of(str(tmp_path))
    (tmp_path / "b").write_bytes(b"a\0b")
    with pytest.raises(ConversationError, match="no text"):
        text_of(str(tmp_path / "b"))


def test_files_stand_behind_the_question_under_their_names():
    assert with_files("why?", [("a.log", "error")]) == "why?\n\n--- a.log ---\nerror"
    assert with_files("", [("a.log", "error")]) == "--- a.log ---\nerror"
