"""The collecting script for Windows. It cannot be run here: its text is parsed, and a stream as it writes one is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.collect import powershell, script
from rigup.machine.collect.questions import programs
from rigup.machine.collect.stream import parse
from rigup.machine.collect.tree import discard, kept
from rigup.machine.tree import Tree


def parser():
    tree_sitter = pytest.importorskip("tree_sitter", reason="tree-sitter is not installed here")
    grammar = pytest.importorskip("tree_sitter_powershell", reason="tree-sitter-powershell is not installed here")
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def faults(text):
    """Lines at which a grammar of PowerShell finds no sense."""

    def within(node):
        if node.type == "ERROR" or node.is_missing:
            yield node.start_point[0] + 1
        elif node.has_error:
            for child in node.children:
                yield from within(child)

    return list(within(parser().parse(text.encode()).root_node))


def test_its_text_is_powershell():
    assert faults(script("powershell")) == []


@pytest.mark.parametrize(
    ("what", "broken"),
    [("Say 'variables'", "Say 'variables"), ("if ($Late) {", "if ($Late {"), ("$Homes = @(Get-Homes)", "$Homes = @(Get-Homes")],
)
def test_the_parser_notices_a_broken_text(what, broken):
    text = script("powershell")
    assert what in text
    assert faults(text.replace(what, broken, 1))


def tokens(text, types):
    found, open_ = [], [parser().parse(text.encode()).root_node]
    while open_:
        node = open_.pop()
        if node.type in types:
            found.append(node.text.decode())
        open_ += node.children
    return found


def test_it_uses_nothing_that_windows_powershell_lacks():
    """5.1 knows no `??`, no `&&` and no `? :`."""
    text = script("powershell")
    assert not tokens(text, {"&&", "||", "??", "??=", "?.", "ternary_expression"})
    assert "\r\n" in text
    assert text.isascii()


def test_it_changes_nothing():
    """Of all cmdlets that it calls none writes, and its only program besides what readers ask ends its own children."""
    called = {name.lower() for name in tokens(script("powershell"), {"command_name"})}
    verbs = {name.partition("-")[0] for name in called if "-" in name}
    assert verbs <= {
        "get",
        "test",
        "select",
        "where",
        "foreach",
        "sort",
        "new",
        "show",
        "write",
        "convertto",
        "join",
        "start",
        "clear",
        "find",
        "read",
    }
    assert not called & {"set-content", "out-file", "new-item", "remove-item", "invoke-webrequest", "start-process", "clear-content"}


def test_it_asks_what_the_readers_declare_for_windows():
    text = script("powershell")
    assert all(powershell.quoted(made.argv[0]) in text for made in programs())
    assert "'/Windows/System32/nvcuda.dll'" in text
    assert "foreach ($Base in $Environments) {" in text
    assert "'/proc/cpuinfo'" not in text
    assert "@('py', '-0p')" in text
    assert len(text) < 105_000


@given(st.text(max_size=60))
def test_a_quoted_word_is_one_literal(word):
    told = powershell.quoted(word)
    plain = told[1:-1]
    for mark in "'\u2018\u2019":
        plain = plain.replace(mark + mark, "")
    assert not set("'\u2018\u2019") & set(plain)


WINDOWS = """
@rigup-stream/1 windows
@variables
@variable USERPROFILE
|C:\\Users\\ada.
@end 0
@there /Windows/System32/nvcuda.dll
@looked /Windows/System32/nvcuda.dll
@absent /Windows/System32/amdhip64.dll
@file C:\\Users\\ada/venv/pyvenv.cfg
|home = C:\\Python312\r
|version = 3.12.1\r
|.
@end 0
@run cmd\t/c\tver
|
|Microsoft Windows [Version 10.0.22631.4460]\r
|.
@exit 0
@end 0
@done 0
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_it_writes_is_read(encoding):
    made = parse(WINDOWS.replace("\n", "\r\n").encode(encoding))
    try:
        host = Tree(kept(made))
        assert (made.whole, made.system) == (True, "windows")
        assert "10.0.22631" in host.run(("cmd", "/c", "ver")).body
        assert host.read("/Windows/System32/amdhip64.dll").state == "absent"
        assert host.listing("/Windows/System32/nvcuda.dll").body
        assert host.read("C:\\Users\\ada/venv/pyvenv.cfg").body.startswith("home = C:\\Python312")
        assert host.variables().body == "USERPROFILE=C:\\Users\\ada"
    finally:
        discard()
