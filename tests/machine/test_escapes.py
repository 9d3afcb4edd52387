"""Sequences for terminals in pasted logs: taken out where they end, and never with a word of what follows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.machine.escapes import without_escapes

BEL, ST = "\x07", "\x1b\\"
ENDS = (BEL, ST, "\x9c")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("begin", "body"),
    [
        ("\x1b]", "8;id=1;file:///home/u/train.py#12"),
        ("\x1b]", "0;a title"),
        ("\x1b]", "52;c;cm0gLXJmIC8="),
        ("\x1b]", ""),
        ("\x1bP", "1$r0m"),
        ("\x1bX", "start"),
        ("\x1b^", "private"),
        ("\x1b_", "Gf=32,s=1;AAAA"),
        ("\x9d", "8;;http://x"),
        ("\x90", "q"),
        ("\x9f", "G"),
    ],
)
def test_a_string_for_the_terminal_ends_where_it_says(begin, body, end):
    assert without_escapes(f"before {begin}{body}{end}train.py after") == "before train.py after"


@pytest.mark.parametrize(
    "said",
    [
        "\x1b[31mred\x1b[0m",
        "\x1b[38;2;1;2;3mred\x1b[m",
        "\x1b[?25lred\x1b[2J\x1b[1;1H",
        "\x1b(Bred\x1b[m",
        "\x1b=red\x1b>",
        "\x1b7red\x1b8",
        "\x1bcred",
        "\x1b[>4;1mred\x1b[!p",
        "\x1b%Gred",
        "\x9b31mred",
        "\x1b[3 qred",
    ],
)
def test_what_only_moves_or_colours_is_taken_out(said):
    assert without_escapes(said) == "red"


@pytest.mark.parametrize("begin", ["\x1b]8;;http://x", "\x1b]0;", "\x1bP", "\x1b_", "\x1b^", "\x1b[", "\x1b", "\x9d8;;x", "\x9b"])
@pytest.mark.parametrize("after", ["\n", "\n\x07", "\nlast\x1b[0m", "\n\x1b]8;;\x1b\\", ""])
def test_one_that_never_ends_swallows_nothing(begin, after):
    error = "\nRuntimeError: CUDA error: out of memory"
    assert error + after.replace("\x1b[0m", "").replace("\x1b]8;;\x1b\\", "") in without_escapes(begin + error + after)


def test_a_picture_of_many_lines_goes_and_lines_keep_their_numbers():
    assert without_escapes("one\n\x1bPq#0;2\n#1~~\n" + ST + "four") == "one\n\n\nfour"


@pytest.mark.parametrize("text", ["“x” said ✔ ✘", "Драйвер не найден", "驱动未加载", "naïve"])
def test_text_that_was_decoded_wrongly_keeps_its_letters(text):
    wrong = text.encode().decode("latin-1")
    assert without_escapes(wrong) == wrong
    assert without_escapes(text) == text


@given(st.text(st.sampled_from("\x1b]P_^X[\\\x07\x9c\x9d\x9b\x90;0m(B \nab\r"), max_size=60))
def test_nothing_is_left_that_begins_a_sequence_and_every_line_stays(text):
    plain = without_escapes(text)
    assert "\x1b" not in plain
    assert plain.count("\n") == text.count("\n")


@given(st.lists(st.sampled_from(["\x1b]8;;file:///a", ST, BEL, "\x1b[1m", "\x1bPq", "\x1b]", "\x1b[", "\n"]), max_size=30))
def test_a_line_without_a_sequence_stays_whole(parts):
    """Whatever stands above and below it: but for what lies inside a picture, whose end is said."""
    said = "".join(parts).replace("\x1bPq", "\x1b]0;")
    assert "torch.OutOfMemoryError: CUDA" in without_escapes(said + "\ntorch.OutOfMemoryError: CUDA\n" + said)


@pytest.mark.parametrize(
    "unit",
    [
        "\x1b]8;;x",
        "\x1b]",
        "\x1bP",
        "\x1b[",
        "\x1b",
        "\x1b[0;0;0",
        "\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\",
        "\x9d8",
        "\x9b1",
        "\x1b \x1b",
        "\x1b[  ",
        " \x1bPx\n",
        "\x1b(((((",
        "\x1b]\x9d",
        "\x1bP\x9d\n",
        "\x9d\x90",
    ],
)
@pytest.mark.parametrize("end", ["", "0" * 100_000, ";" * 100_000])
def test_megabytes_of_them_are_read_in_one_pass(unit, end):
    """Were it quadratic, this would take minutes."""
    assert len(without_escapes(unit * (500_000 // len(unit)) + end)) <= 600_000


@pytest.mark.parametrize("end", [BEL, ST])
def test_a_link_in_a_pasted_log_hides_nothing_behind_it(end, tmp_path):
    link = f"\x1b]8;id=7;file:///home/u/x.py{end}x.py\x1b]8;;{end}:3 in <module>\n"
    said = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    (tmp_path / "log").write_text(link + said)
    (tmp_path / "plain").write_text(re.sub(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)", "", link) + said)
    with_links, without = diagnose(str(tmp_path / "log")), diagnose(str(tmp_path / "plain"))
    assert with_links["findings"]
    assert [one["cause"] for one in with_links["findings"]] == [one["cause"] for one in without["findings"]]


def test_what_a_tool_colours_even_for_programs_is_read(tmp_path):
    from rigup.machine.facts import Place
    from rigup.machine.host import Answer
    from rigup.machine.kinds import KernelModule
    from rigup.machine.local import Local
    from rigup.machine.look import look
    from rigup.machine.sources import Source

    class Colourful(Local):
        def run(self, argv, seconds=5.0):
            said = "\x1b[37mROCk module version 6.10.5 is loaded\x1b[0m\n"
            return Answer(said) if argv == ("rocminfo",) else Answer(None, "absent", exit=127)

    facts = look([Source(Place(), Colourful(str(tmp_path)))])
    assert any(module.get("name") == "amdgpu" and module.get("loaded") for module in facts.of(KernelModule))
    assert facts.unanswered == []
