"""Projects: what they need, and from where; what uv and Poetry say in tables of their own is kept or refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.stack.asked import fits_python, of_file, wished
from rigup.stack.poetry import _specifier
from rigup.stack.profile import read_profile
from rigup.stack.terms import WishError

SITE = read_profile("no gpu, debian 12, python 3.11")
PROJECT = '[project]\nname = "mine"\ndependencies = ["stone>=1", "bridge"]\n'


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What a project asks for."""
    monkeypatch.chdir(tmp_path)

    def read(text, parts=""):
        (tmp_path / "pyproject.toml").write_text(text)
        return of_file("pyproject.toml" + parts)

    return read


def test_dependencies_are_asked_for_and_further_parts_are_told(told):
    text = (
        PROJECT
        + '[project.optional-dependencies]\ngpu = ["torch"]\nall = ["mine[gpu]"]\n[dependency-groups]\ndev = ["pytest", {include-group = "lint"}]\nlint = ["ruff"]\n'
    )
    found = told(text)
    assert found.words == ("stone>=1", "bridge")
    assert "gpu, all" in found.terms.told[0]
    assert any("gpu" in one for one in wished(found, SITE)[1].assumed)
    assert told(text, "[gpu]").words == ("stone>=1", "bridge", "torch")
    assert told(text, "[all]").words == ("stone>=1", "bridge", "torch")
    assert told(text, "[Dev, gpu]").words == ("stone>=1", "bridge", "pytest", "ruff", "torch")
    with pytest.raises(WishError, match="nonsense"):
        told(text, "[nonsense]")


def test_a_project_for_another_python_than_the_chosen_one_is_refused(told):
    wish, _site = wished(told(PROJECT + 'requires-python = ">=3.12,<4"\n'), SITE)
    fits_python(wish, "3.12")
    fits_python(wish, "3.13t")
    with pytest.raises(WishError, match=r"3\.12.*3\.11"):
        fits_python(wish, "3.11")


def test_uvs_places_and_bounds_are_kept(told):
    terms = told(
        PROJECT
        + '[tool.uv]\nconstraint-dependencies = ["stone<2"]\nprerelease = "allow"\nno-binary-package = ["bridge"]\nno-build = true\n'
        'package = false\n[tool.uv.sources]\nbridge = { index = "company" }\nunasked = { git = "https://example.org/u" }\n'
        '[[tool.uv.index]]\nname = "company"\nurl = "https://company.example/simple"\nexplicit = true\n'
        '[[tool.uv.index]]\nname = "ours"\nurl = "https://mirror.example/simple"\ndefault = true\n'
    ).terms
    assert terms.bound == {"bridge": "https://company.example/simple"}
    assert terms.index == "https://mirror.example/simple"
    assert terms.constraints == ("stone<2",)
    assert terms.options == (("--pre", ""), ("--no-binary", "bridge"), ("--only-binary", ":all:"))


def test_poetrys_dependencies_are_read_in_its_own_signs(told):
    found = told(
        '[tool.poetry.dependencies]\npython = "^3.10"\nstone = "^1.2"\nbridge = { version = "~2.1", extras = ["x"], source = "company" }\n'
        'road = [{ version = "1.*", markers = "sys_platform == \'linux\'" }, { version = "*", python = "<3.8" }]\nspare = { version = "*", optional = true }\n'
        '[[tool.poetry.source]]\nname = "company"\nurl = "https://company.example/simple"\npriority = "explicit"\n[tool.poetry.group.dev.dependencies]\npytest = "*"\n'
    )
    assert found.words == ("stone<2,>=1.2", "bridge[x]<2.2,>=2.1", 'road==1.*; sys_platform == "linux"', 'road; python_version < "3.8"')
    assert found.terms.bound == {"bridge": "https://company.example/simple"}
    assert "spare, dev" in found.terms.told[0]
    assert found.terms.python == "<4,>=3.10"


@pytest.mark.parametrize(
    ("poetry", "plain"),
    [
        ("^1.2.3", "<2,>=1.2.3"),
        ("^0.2.3", "<0.3,>=0.2.3"),
        ("^0.0.3", "<0.0.4,>=0.0.3"),
        ("^0", "<1,>=0"),
        ("^0.0", "<0.1,>=0.0"),
        ("~1", "<2,>=1"),
        ("~1.2.3", "<1.3,>=1.2.3"),
        ("*", ""),
        ("1.2", "==1.2"),
        ("=1.2", "==1.2"),
        (">=1,<2", "<2,>=1"),
        (">=1 <2", "<2,>=1"),
        ("1.2.*", "==1.2.*"),
        ("!=1.3", "!=1.3"),
        ("~=1.4", "~=1.4"),
        ("^1.0rc1", "<2,>=1.0rc1"),
    ],
)
def test_versions_of_poetry_are_written_as_everybody_writes_them(poetry, plain):
    assert _specifier(poetry, "pyproject.toml", "stone") == plain


UV, SOURCE = PROJECT + "[tool.uv]\n", PROJECT + "[tool.uv.sources]\n"
INDEX = '[[tool.uv.index]]\nname = "c"\nurl = "https://c.example/simple"\n'
REFUSED = {
    "dynamic": ('[project]\nname = "a"\ndynamic = ["dependencies"]\n', "dynamic"),
    "nothing": ('[project]\nname = "a"\n', "names no packages"),
    "no tables": ("", "names no packages"),
    "list": ('[project]\ndependencies = "stone"\n', "dependencies"),
    "numbers": ("[project]\ndependencies = [1]\n", "dependencies"),
    "address": ('[project]\ndependencies = ["stone @ git+https://example.org/s"]\n', "stone"),
    "no package": ('[project]\ndependencies = ["a b"]\n', "a b"),
    "git": (SOURCE + 'stone = { git = "https://example.org/s" }\n', "stone"),
    "path": (SOURCE + 'bridge = { path = "../b", editable = true }\n', "bridge"),
    "workspace": (SOURCE + "stone = { workspace = true }\n", "stone"),
    "url": (SOURCE + 'stone = { url = "https://e.example/s.whl" }\n', "stone"),
    "marked index": (SOURCE + 'stone = [{ index = "c", marker = "sys_platform == \'linux\'" }]\n' + INDEX + "explicit = true\n", "stone"),
    "unknown index": (SOURCE + 'stone = { index = "c" }\n', "index c"),
    "open index": (PROJECT + INDEX, "index c"),
    "password": (PROJECT + INDEX.replace("//c", "//u:hunter2@c"), "password"),
    "override": (UV + 'override-dependencies = ["a"]\n', "override-dependencies"),
    "newer": (UV + 'exclude-newer = "2025-01-01"\n', "exclude-newer"),
    "strategy": (UV + 'index-strategy = "unsafe-best-match"\n', "index-strategy"),
    "pip": (PROJECT + '[tool.uv.pip]\nindex-url = "https://x.example"\n', "pip.index-url"),
    "backend": (UV + 'torch-backend = "auto"\n', "torch-backend"),
    "resolution": (UV + 'resolution = "lowest"\n', "resolution"),
    "constraint": (UV + 'constraint-dependencies = ["a @ https://e.example/a.whl"]\n', " a "),
    "pdm": (PROJECT + '[[tool.pdm.source]]\nurl = "https://x"\n', "tool.pdm"),
    "pixi": (PROJECT + '[tool.pixi.dependencies]\ntorch = "*"\n', "tool.pixi"),
    "pixi's index": (PROJECT + '[tool.pixi.pypi-options]\nindex-url = "https://x.example"\n', "tool.pixi.pypi-options"),
    "rye": (PROJECT + '[[tool.rye.sources]]\nname = "d"\nurl = "https://x.example"\n', "tool.rye.sources"),
    "a place deep inside": (PROJECT + '[tool.x]\na = [[[{extra-index-urls = ["u"]}]]]\n', "tool.x.a"),
    "poetry git": ('[tool.poetry.dependencies]\nstone = { git = "https://example.org/s" }\nb = "1"\n', "stone"),
    "poetry source": ('[tool.poetry.dependencies]\nstone = { version = "1", source = "c" }\n', "index c"),
    "poetry order": (PROJECT + '[[tool.poetry.source]]\nname = "c"\nurl = "https://c.example"\npriority = "supplemental"\n', "source c"),
    "poetry or": ('[tool.poetry.dependencies]\nstone = "^1 || ^2"\n', "stone"),
    "poetry number": ("[tool.poetry.dependencies]\nstone = 1\n", "stone"),
    "poetry field": ('[tool.poetry.dependencies]\nstone = { version = "1", platform = "linux" }\n', "platform"),
    "python": (PROJECT + "requires-python = 3\n", "requires-python"),
    "no table": ("project = 3\n", "project"),
    "no toml": ("[project\n", "TOML"),
    "deep": ("x = " + "[" * 5000 + "]" * 5000, "TOML"),
    "deep tables": ("x = " + "{a=" * 5000 + "1" + "}" * 5000, "TOML"),
    "dotted": ("a." * 5000 + "b = 1\n", "pyproject.toml"),
}


@pytest.mark.parametrize(("text", "named"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_kept_is_refused_by_its_name(told, text, named):
    with pytest.raises(WishError) as refused:
        told(text)
    assert named in str(refused.value)
    assert "pyproject.toml" in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "more", ['[tool.coverage.run]\nsource = ["x"]\n', '[tool.hatch.build]\nsources = ["src"]\n', "[tool.uv]\npackage = true\n"]
)
def test_tables_that_say_nothing_of_places_are_no_matter(told, more):
    assert told(PROJECT + more)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10) | st.sampled_from(["stone>=1", "https://c.example/s", "c"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "url", "name", "git", "version", "extras", "default"]), inner, max_size=3)
    ),
    max_leaves=8,
)
_FIELDS = st.sampled_from(
    [
        "project.dependencies",
        "project.name",
        "project.dynamic",
        "project.optional-dependencies",
        "project.requires-python",
        "dependency-groups.a",
        "tool.uv.sources",
        "tool.uv.index",
        "tool.uv.constraint-dependencies",
        "tool.uv.pip",
        "tool.uv.find-links",
        "tool.uv.prerelease",
        "tool.uv.no-binary-package",
        "tool.uv.sources.stone",
        "tool.poetry.dependencies",
        "tool.poetry.source",
        "tool.poetry.group",
        "tool.poetry.dependencies.stone",
        "tool.pdm",
        "tool",
        "project",
    ]
)


@given(st.dictionaries(_FIELDS, _VALUES, max_size=4))
def test_tables_of_any_form_end_in_a_wish_or_a_refusal(fields):
    from rigup.stack import projects

    table: dict = {}
    for name, value in sorted(fields.items(), key=lambda pair: len(pair[0])):
        *above, last = name.split(".")
        inner = table
        for part in above:
            inner = inner.setdefault(part, {}) if isinstance(inner, dict) else {}
        if isinstance(inner, dict):
            inner[last] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projects, "read", lambda _path: table)
        try:
            found = projects.of_project("pyproject.toml")
        except WishError:
            return
    assert found.words
