"""Modules that are run at their first use: in place, whole for whoever asks, and only where nobody has them yet."""

import subprocess
import sys

import pytest


def answer_of(code):
    return subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_a_module_is_run_when_something_in_it_is_asked_for():
    said = answer_of(
        "import sys, _thread\nfrom rigup.deferred import defer\ndefer(('colorsys', 'textwrap'))\nimport colorsys\n"
        "print(len(vars(colorsys)) < 12, colorsys.rgb_to_hls(0, 0, 0)[0], colorsys.__name__)\n"
        "from textwrap import dedent\nprint(dedent('  a'))"
    )
    assert said == ["True", "0.0", "colorsys", "a"]


def test_what_is_loaded_is_left_and_what_is_not_there_stays_so():
    said = answer_of(
        "import sys, json\nfrom rigup.deferred import defer\ndefer(('json', 'no_such_module_here'))\n"
        "print(type(json).__name__, 'no_such_module_here' in sys.modules)"
    )
    assert said == ["module", "False"]


@pytest.mark.parametrize("doc", ["one line", "  first\n    second\n    third\n", "a\tb", ""])
def test_click_cleans_its_help_as_ever(doc):
    import inspect

    said = subprocess.run(
        [sys.executable, "-I", "-c", "import sys\nfrom rigup.deferred import defer\ndefer()\nimport inspect\nsys.stdout.write(inspect.cleandoc(sys.argv[1]))", doc],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said == inspect.cleandoc(doc)


def test_a_module_may_be_kept_from_those_who_ask_and_is_there_afterwards():
    said = answer_of(
        "from rigup.deferred import without\n"
        "with without('colorsys'):\n    try:\n        import colorsys\n    except ImportError:\n        print('none')\n"
        "import colorsys\nprint(colorsys.__name__)"
    )
    assert said == ["none", "colorsys"]
