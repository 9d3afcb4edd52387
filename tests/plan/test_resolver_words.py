"""What a resolver says of a set that cannot be had is told in its words, with the signs of its own tree taken off."""

from rigup.plan.resolution.by_uv import _no

SAID = """\
error: No solution found when resolving dependencies:
  cause: Because pandas==2.2.3 depends on numpy{python_full_version < '3.12'}>=1.23.2 and
         rigup-plan depends on numpy<1.20, we can conclude that rigup-plan and pandas==2.2.3
         are incompatible.
         And because rigup-plan depends on pandas==2.2.3, we can conclude that your requirements
         are unsatisfiable.
"""
TREE = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because only causes<=2 is available and rigup-plan depends on causes>3, we can
      conclude that your requirements are unsatisfiable.
"""


def test_no_word_loses_a_part_that_looks_like_a_mark():
    words = _no(SAID).refused
    assert words.startswith("Because pandas==2.2.3 depends on numpy{python_full_version < '3.12'}>=1.23.2 and numpy<1.20 was asked for")
    assert "And because pandas==2.2.3 was asked for, we can conclude" in words


def test_marks_at_the_beginning_of_a_line_go():
    assert _no(TREE).refused.startswith("Because only causes<=2 is available and causes>3 was asked for")
