"""What files of requirements say is kept by real installers: hashes, indexes, bounds, sources; with an index of our own."""

import hashlib
import http.server
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from rigup.plan.environments import locking, staged_swap
from rigup.plan.environments.lock_fields import LockError
from rigup.plan.environments.resolver import found_uv
from rigup.plan.packages import groups
from rigup.plan.resolution import resolve
from rigup.plan.steps import steps
from rigup.plan.term_files import unkept, write_files
from rigup.stack.asked import asked_in, wished
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources
from tiny_environments import make_wheel, says

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
# A stranger has put a newer release of the company's own package into the public index.
PUBLIC = (("secretlib", "99.0", ()), ("stone", "1.0", ()), ("stone", "1.1", ()), ("stone", "2.0rc1", ()), ("bridge", "2.0", ("stone",)))
COMPANY = (("secretlib", "1.0", ("stone",)), ("stone", "1.0", ()))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_said):
        """Say nothing."""


@pytest.fixture(scope="module")
def www(tmp_path_factory):
    """The folder of two indexes, and their address."""
    root = tmp_path_factory.mktemp("www")
    for index, rows in (("public", PUBLIC), ("company", COMPANY)):
        for name, version, needs in rows:
            make_wheel(root / index / name, name, version, requires=needs, text=f"FROM = {index!r}")
    for page in root.glob("*/*"):
        links = (f'<a href="{one.name}#sha256={digest(one)}">{one.name}</a>' for one in page.glob("*.whl"))
        (page / "index.html").write_text("\n".join(links))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield root, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(params=["uv", "pip"])
def installer(request, monkeypatch):
    """Either one, to resolve and to install."""
    if request.param == "uv" and not found_uv():
        pytest.skip("uv is not installed")
    if request.param == "pip":
        monkeypatch.setattr(resolve, "found_uv", lambda: "")
    return request.param


@pytest.fixture
def world(www, installer, monkeypatch, tmp_path, bare):
    """A function from a file's text to the choice, and one that installs it."""
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", resolve.OFF):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.chdir(tmp_path)
    return _World(*www, installer, tmp_path, bare, monkeypatch)


class _World:
    def __init__(self, root, url, installer, folder, bare, monkeypatch):
        self.root, self.url, self.installer, self.folder, self.bare = root, url, installer, folder, bare
        self.public, self.company, self._patch = url + "/public", url + "/company", monkeypatch

    def hash(self, index, name, version):
        return "--hash=sha256:" + digest(self.root / index / name / f"{name}-{version}-py3-none-any.whl")

    def choice(self, text, name="requirements.txt", resolved=True, **files):
        for other, body in files.items():
            (self.folder / f"{other}.txt").write_text(body)
        (self.folder / name).write_text(text.format(public=self.public, company=self.company))
        site = read_profile(f"no gpu, debian 12, python {PYTHON}").but(
            sources=Sources(index=self.public), environment=str(self.folder / "env"), interpreters={PYTHON: sys.executable}
        )
        if self.installer == "uv":
            site = site.but(system_state=type(site.system_state)(uv=True, uv_program=found_uv()))
        wish, site = wished(asked_in([], [name]), site)
        choice = choose(wish, site)
        if resolved:
            return resolve.resolved(choice, here=True)
        return choice

    def installed(self, choice):
        """What is there afterwards, by package the index that it is from; the installer's words where it refuses."""
        staged_swap.clone(self.bare, self.folder / "env")
        write_files(choice)
        for step in steps(choice):
            if step.kind.startswith("install-"):
                for argv in step.commands:
                    done = subprocess.run(argv, capture_output=True, text=True, timeout=200, check=False)
                    if done.returncode:
                        return done.stderr
        code = "import importlib, sys\nfor name in ('stone','secretlib','bridge'):\n try:\n  m = importlib.import_module(name); print(name, m.VERSION, m.FROM)\n except ImportError: pass"
        told = says(self.folder / "env" / "bin" / "python", "-c", code)
        return {line.split()[0]: tuple(line.split()[1:]) for line in told.splitlines()}


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_a_companys_index_is_asked_and_no_public_package_of_the_same_name_comes(world, resolved):
    choice = world.choice("--index-url {company}\nsecretlib\n", resolved=resolved)
    assert world.installed(choice) == {"secretlib": ("1.0", "company"), "stone": ("1.0", "company")}


def test_the_right_hashes_install(world):
    lines = [f"stone==1.1 {world.hash('public', 'stone', '1.1')}", f"bridge==2.0 \\\n  {world.hash('public', 'bridge', '2.0')}"]
    choice = world.choice("\n".join(lines))
    assert choice.possible, choice.resolution
    assert world.installed(choice) == {"stone": ("1.1", "public"), "bridge": ("2.0", "public")}


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_a_wrong_hash_installs_nothing(world, resolved):
    choice = world.choice("--require-hashes\nstone==1.1 --hash=sha256:" + "0" * 64 + "\n", resolved=resolved)
    if resolved:
        assert not choice.possible
        assert "stone==1.1" in choice.resolution.refused
        assert "requirements.txt" in choice.resolution.refused
    else:
        assert "hash" in world.installed(choice).lower()
        assert not list((world.folder / "env").rglob("stone*"))


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_what_has_no_hash_is_not_installed_beside_what_has_one(world, resolved):
    choice = world.choice(f"bridge==2.0 {world.hash('public', 'bridge', '2.0')}\n", resolved=resolved)
    if resolved:
        assert "stone==1.1" in choice.resolution.refused
    else:
        assert "hash" in world.installed(choice).lower()
        assert not list((world.folder / "env").rglob("stone*"))


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_constraints_bind_what_comes_along(world, resolved):
    choice = world.choice("-c bounds.txt\nbridge\n", resolved=resolved, bounds="stone<1.1\n")
    assert world.installed(choice) == {"stone": ("1.0", "public"), "bridge": ("2.0", "public")}


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_no_early_release_comes_where_the_file_does_not_want_it(world, resolved):
    assert world.installed(world.choice("stone\n", resolved=resolved)) == {"stone": ("1.1", "public")}


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_early_releases_come_where_the_file_wants_them(world, resolved):
    assert world.installed(world.choice("--pre\nstone\n", resolved=resolved)) == {"stone": ("2.0rc1", "public")}


def test_a_package_that_may_not_come_as_a_wheel_is_not_installed_from_one(world):
    choice = world.choice("--no-binary stone\nstone\n")
    assert not choice.possible  # there is no source of it there
    with pytest.raises(LockError, match="stone"):
        locking.of_choice(world.choice("--no-binary stone\nstone\n", resolved=False))


def test_nested_files_and_folders_of_packages_are_kept(world):
    text = f"--no-index\n--find-links {world.root}/company/stone\n--find-links {world.root}/company/secretlib\n"
    choice = world.choice("-r more.txt\n", more=text + "secretlib\n")
    assert world.installed(choice) == {"secretlib": ("1.0", "company"), "stone": ("1.0", "company")}


@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "unresolved"])
def test_a_package_that_uv_binds_to_an_index_comes_from_it_and_the_rest_does_not(world, resolved):
    text = (
        '[project]\nname = "mine"\ndependencies = ["secretlib", "bridge"]\n[tool.uv.sources]\nsecretlib = {{ index = "company" }}\n'
        '[[tool.uv.index]]\nname = "company"\nurl = "{company}"\nexplicit = true\n'
    )
    choice = world.choice(text, "pyproject.toml", resolved=resolved)
    if resolved and world.installer == "pip":
        assert not choice.possible
        assert "secretlib is to come from" in choice.resolution.refused  # pip binds nothing, and that is said
        return
    assert world.installed(choice) == {"secretlib": ("1.0", "company"), "stone": ("1.1", "public"), "bridge": ("2.0", "public")}


def test_an_index_of_the_file_that_does_not_answer_is_not_left_out(world):
    choice = world.choice("--extra-index-url http://127.0.0.1:9/simple\nsecretlib\n")
    assert not choice.possible
    assert "127.0.0.1:9" in choice.resolution.refused


def test_a_lock_takes_no_file_without_one_of_the_hashes(world):
    wrong = world.choice("stone==1.1 --hash=sha256:" + "0" * 64 + "\n", resolved=False)
    with pytest.raises(LockError, match="hashes"):
        locking.of_choice(wrong)
    right = locking.of_choice(world.choice(f"stone==1.1 {world.hash('public', 'stone', '1.1')}\n", resolved=False))
    assert [one.version for one in right.packages] == ["1.1"]


def test_forms_that_cannot_say_it_are_told(world):
    choice = world.choice(f"stone==1.1 {world.hash('public', 'stone', '1.1')}\n--pre\n")
    assert unkept(choice, "dockerfile") == ["--hash"]
    assert unkept(choice, "poetry") == ["--hash", "--pre"]
    assert unkept(choice, "script") == unkept(choice, "text") == []
    assert unkept(world.choice("stone\n"), "conda") == []
    assert all("--pre" in [word for pair in group.terms for word in pair] for group in groups(choice))
