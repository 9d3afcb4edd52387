"""Files of requirements: each line is kept, or refused by its name; what pip would read in them is read here."""

import codecs
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.stack.asked import asked_in, of_file, wished
from rigup.stack.profile import read_profile
from rigup.stack.requirement_files import decoded
from rigup.stack.terms import WishError

SITE = read_profile("no gpu, debian 12, python 3.11")
A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What a file with this text asks for; further files by their names."""
    monkeypatch.chdir(tmp_path)

    def read(text, **others):
        for name, body in {"requirements": text, **others}.items():
            data = body if isinstance(body, bytes) else body.encode()
            (tmp_path / f"{name}.txt").write_bytes(data)
        return of_file("requirements.txt")

    return read


def test_packages_comments_markers_and_joined_lines_are_read_as_pip_reads_them(told):
    found = told(
        'a==1.0 # why\n# b==2\n\n c [x,y] >= 1 , < 2 ; python_version > "3"\nd==\\\n1.0\ne==1 \\\n# a comment ends it\nf#==1\n'.replace(
            "f#==1\n", ""
        )
    )
    assert found.words == ("a==1.0", 'c[x,y]<2,>=1; python_version > "3"', "d==1.0", "e==1")
    assert not found.terms.hashed


def test_places_and_switches_are_kept(told, tmp_path):
    (tmp_path / "wheels").mkdir()
    terms = told(
        "-i https://company.example/simple\n--extra-index-url=https://more.example/simple\n-fwheels\n--find-links https://x.example/page.html\n"
        "--pre\n--prefer-binary\n--no-binary a,B_c\n--only-binary=:all:\n--trusted-host company.example:8443\na\n"
    ).terms
    assert terms.index == "https://company.example/simple"
    assert terms.extra_indexes == ("https://more.example/simple",)
    assert terms.find_links == (str(tmp_path / "wheels"), "https://x.example/page.html")
    assert terms.options == (
        ("--pre", ""),
        ("--prefer-binary", ""),
        ("--no-binary", "a"),
        ("--no-binary", "b-c"),
        ("--only-binary", ":all:"),
        ("--trusted-host", "company.example:8443"),
    )


def test_hashes_are_kept_by_package_and_one_is_enough_to_want_them_of_all(told):
    terms = told(f"a==1 \\\n  --hash={A} \\\n  --hash {B.upper().replace('SHA', 'sha')}\nb==2\n").terms
    assert terms.hashes == {"a": (A, B)}
    assert terms.hashed
    assert told("--require-hashes\na==1\n").terms.hashed


def test_named_files_are_read_from_beside_the_file_that_names_them(told, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "more.txt").write_text("-c bounds.txt\nb\n--extra-index-url https://more.example/simple\n")
    (tmp_path / "deep" / "bounds.txt").write_text(f"c<2\nb==1.5 --hash={A}\n")
    found = told("a\n-r deep/more.txt\n")
    assert found.words == ("a", "b")
    assert found.terms.constraints == ("c<2", "b==1.5")
    assert found.terms.extra_indexes == ("https://more.example/simple",)
    assert found.terms.hashes == {"b": (A,)}
    wish, _site = wished(found, SITE)
    assert wish.packages == ("a", "b==1.5")


def test_bounds_that_are_for_other_systems_bind_nothing_here(told):
    found = told("-c bounds.txt\na>=1\n", bounds="a<5 ; sys_platform == 'win32'\na<9 ; sys_platform == 'linux'\n")
    assert wished(found, SITE)[0].packages == ("a<9,>=1",)


def test_a_files_places_go_into_the_machine_before_the_persons_own(told):
    asked = told("--index-url https://company.example/simple\n--extra-index-url https://more.example/simple\na\n")
    sources = wished(asked, SITE, usual_mirror="tuna")[1].sources
    assert (sources.index, sources.extra_indexes) == ("https://company.example/simple", ("https://more.example/simple",))
    with pytest.raises(WishError, match=r"company\.example.*tuna"):
        wished(asked, SITE, mirror="tuna")


REFUSED = {
    "editable folder": ("-e .", "-e"),
    "editable repository": ("-e git+https://example.org/a.git#egg=a", "git"),
    "editable, long": ("--editable=./a", "./a"),
    "repository": ("git+https://example.org/a.git@main", "git"),
    "named address": ("a @ https://example.org/a-1-py3-none-any.whl", "address"),
    "address": ("https://example.org/a-1.tar.gz", "address"),
    "folder": ("./a", "folder"),
    "parent": ("../a", "folder"),
    "wheel": ("a-1-py3-none-any.whl", "folder"),
    "archive": ("dist/a-1.tar.gz", "folder"),
    "file": ("file:///tmp/a.whl", "folder"),
    "windows": ("C:\\a\\b.whl", "folder"),
    "unknown option": ("--turbo", "--turbo"),
    "feature": ("--use-feature=fast-deps", "--use-feature"),
    "build setting": ('a --config-settings "x=y"', "--config-settings"),
    "build option": ("a --global-option=x", "--global-option"),
    "password": ("--index-url https://bob:hunter2@company.example/simple", "password"),
    "token": ("--extra-index-url https://__token__:abc@x.example", "password"),
    "variable": ("--index-url https://${HOST}/simple", "${HOST}"),
    "variable in a package": ("a==${VERSION}", "${VERSION}"),
    "index of no form": ("--index-url company", "company"),
    "folder as index": ("-i /tmp/x", "/tmp/x"),
    "two indexes": ("-i https://a.example/s\n-i https://b.example/s", "second"),
    "no value": ("--index-url", "--index-url"),
    "value of a switch": ("--pre=yes", "--pre"),
    "weak hash": ("a==1 --hash=md5:" + "a" * 32, "hash"),
    "short hash": ("a==1 --hash=sha256:abc", "hash"),
    "no hash": ("a==1 --hash", "hash"),
    "elsewhere": ("-r https://example.org/r.txt", "elsewhere"),
    "not there": ("-r missing.txt", "missing.txt"),
    "bounds not there": ("-c missing.txt", "missing.txt"),
    "itself": ("-r requirements.txt", "names itself"),
    "itself as bounds": ("-c requirements.txt", "names itself"),
    "nothing to ask": ("--no-index", "--no-index"),
    "quote": ("--index-url 'https://x", "quote"),
    "list": ("--no-binary a;b", "a;b"),
    "host": ("--trusted-host 'a b'", "a b"),
    "no package": ("a b c", "a b c"),
    "control": ("a\x07b", "signs"),
    "latin": (b"caf\xe9==1", "signs"),
    "option of an option": ("--find-links --index-url=https://x", "--index-url"),
    "nul": ("a\x00", "signs"),
}


@pytest.mark.parametrize(("text", "named"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_kept_is_refused_by_its_name_and_place(told, text, named):
    with pytest.raises(WishError) as refused:
        told((text if isinstance(text, bytes) else text.encode()) + b"\nb\n")
    assert named in str(refused.value)
    assert "requirements.txt" in str(refused.value) or "missing.txt" in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert ":abc@" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "--extra-index-url https://x.example/simple\n"])
def test_files_without_a_package_are_refused_and_not_taken_for_a_wish_for_torch(text, tmp_path):
    (tmp_path / "requirements.txt").write_text(text)
    with pytest.raises(WishError, match=r"requirements\.txt"):
        asked_in([], [str(tmp_path / "requirements.txt")])


def test_a_constraint_with_extras_is_refused_as_pip_does(told):
    with pytest.raises(WishError, match=r"bounds\.txt:1"):
        told("-c bounds.txt\na\n", bounds="a[x]<2\n")


def test_a_file_of_more_than_files_have_is_refused_and_never_cut(told):
    with pytest.raises(WishError, match="larger"):
        told("a\n" * 30_000)
    with pytest.raises(WishError, match="larger"):
        told("a" + " " * 2_100_000 + "\nb\n")


@pytest.mark.parametrize(
    "body",
    [
        codecs.BOM_UTF8 + "a==1 # ü\n".encode(),
        "a==1 # ü\n".encode("utf-16"),
        codecs.BOM_UTF16_BE + "a==1 # ü".encode("utf-16-be"),
        "a==1 # ü\n".encode("utf-32"),
        "# -*- coding: latin-1 -*-\na==1 # ü\n".encode("latin-1"),
        b"a==1 # \xfc\n",
        b"a==1\r\n",
        b"a==1\r",
        b"# coding: nonsense\na==1",
    ],
)
def test_files_of_every_encoding_that_pip_reads_are_read(told, body):
    assert told(body).words == ("a==1",)


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded(body):
    assert isinstance(decoded(body), str)


_PIECES = st.sampled_from(
    [
        "-r x",
        "-c x",
        "--hash=",
        "-e",
        " ",
        "\\\n",
        "\n",
        "#",
        "a==1",
        "--pre",
        "-i",
        "https://",
        "'",
        '"',
        "; python_version",
        "[",
        "@",
        "=",
        "${A}",
        "\0",
    ]
)


@given(st.lists(_PIECES | st.text(string.printable, max_size=8), max_size=20))
def test_no_text_ends_in_anything_but_a_wish_or_a_refusal(tmp_path_factory, parts):
    path = tmp_path_factory.getbasetemp() / "fuzzed.txt"
    path.write_text("".join(parts))
    try:
        found = of_file(str(path))
    except WishError:
        return
    assert all(isinstance(word, str) for word in found.words)
