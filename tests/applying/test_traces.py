"""What a step leaves on the system beside its files: counted, and taken back exactly."""

import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from small_world import World, needed

from rigup.knowledge.package_managers import package_manager
from rigup.machine.host import Answer
from rigup.plan.applying import traces
from rigup.plan.applying.system_packages import Moved, distribution, moved, packages, plain_names, taking_back
from rigup.plan.applying.traces import Sight, Traces
from rigup.steps import make_as


class Says:
    """A machine that answers a few commands."""

    def __init__(self, files: dict[str, str] | None = None, **told: str) -> None:
        self.files, self.told = files or {}, told

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """What the program is known to print."""
        body = self.told.get(argv[0].replace("-", "_"))
        return Answer(None, "absent", exit=127) if body is None else Answer(body)

    def read(self, path: str, limit: int = 0) -> Answer:
        """A file."""
        return Answer(self.files[path]) if path in self.files else Answer(None, "absent")


# -- lists of packages -------------------------------------------------------------------------------


def test_dpkg_counts_what_is_installed_alone():
    told = "installed libc6:amd64 2.36-9\nconfig-files old 1.0\nnot-installed gone \ninstalled bash 5.2\n"
    assert packages(Says(dpkg_query=told)) == {"libc6:amd64": "2.36-9", "bash": "5.2"}


def test_rpm_tells_processors_apart_and_keeps_several_kernels():
    told = "installed kernel.x86_64 0:6.8-1\ninstalled glibc.x86_64 0:2.39-1\ninstalled kernel.x86_64 0:6.9-1\n"
    assert packages(Says(rpm=told)) == {"kernel.x86_64": "0:6.8-1 0:6.9-1", "glibc.x86_64": "0:2.39-1"}


def test_pacman_is_asked_where_nobody_else_answers():
    assert packages(Says(pacman="linux 6.12.1-1\nmesa 1:25.0-1\n")) == {"linux": "6.12.1-1", "mesa": "1:25.0-1"}


def test_without_a_manager_nothing_is_counted():
    assert packages(Says()) is None


def test_names_are_found_with_and_without_their_processor():
    names = plain_names({"libc6:i386": "1", "glibc.x86_64": "0:1-1", "python3.11": "3.11"})
    assert {"libc6", "libc6:i386", "glibc", "python3.11"} <= names
    assert "python3" not in names


@given(st.text(max_size=300))
def test_any_text_is_read_as_a_list_of_packages(text):
    told = packages(Says(dpkg_query=text, rpm=text, pacman=text)) or {}
    assert all(name and version for name, version in told.items())


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("123")), st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("123"))
)
def test_what_moved_leads_from_one_list_to_the_other(before, after):
    told = moved(before, after)
    again = {name: version for name, version in after.items() if name not in told.came} | told.old()
    assert again == before


def test_a_kernel_beside_another_came_by_itself():
    told = moved({"kernel.x86_64": "0:6.8-1"}, {"kernel.x86_64": "0:6.8-1 0:6.9-1"})
    assert told == Moved(came={"kernel-6.9-1.x86_64": "0:6.9-1"})


# -- the way back ------------------------------------------------------------------------------------


def back(told: Moved, system: str, refreshed: bool = False) -> list[tuple[str, ...]]:
    manager = package_manager(system)
    assert manager is not None
    return list(taking_back(told, manager, refreshed))


def test_what_came_is_removed_and_what_changed_comes_at_its_version():
    told = Moved(came={"new": "1"}, went={"gone": "2"}, changed={"other": ["3", "4"]})
    remove, install = back(told, "debian")
    assert remove == ("apt-get", "purge", "-y", "new")
    assert install == ("apt-get", "install", "-y", "--allow-downgrades", "gone=2", "other=3")


def test_other_sources_are_read_before_packages_come_from_them():
    told = Moved(went={"gone": "2"})
    assert back(told, "ubuntu", True)[0] == ("apt-get", "update")
    assert len(back(told, "ubuntu", False)) == 1
    assert back(Moved(came={"new": "1"}), "ubuntu", True) == [("apt-get", "purge", "-y", "new")]


def test_holds_of_other_people_stay():
    before = Sight(packages={}, held=["theirs"])
    told = traces.between(before, Sight(packages={}, held=["ours", "theirs"]))
    assert list(traces.ways_back(told, Path("/nowhere"), "debian")) == [("apt-mark", "unhold", "ours")]


def test_a_hold_that_was_let_go_is_held_again():
    told = traces.between(Sight(packages={}, held=["theirs"]), Sight(packages={}, held=[]))
    assert list(traces.ways_back(told, Path("/nowhere"), "debian")) == [("apt-mark", "hold", "theirs")]


def test_a_module_is_unbuilt_unless_it_goes_with_its_package():
    one, other = ["nvidia", "550.120", "6.1", "x86_64"], ["new", "1", "6.1", "x86_64"]
    told = traces.between(Sight(source=["nvidia/550.120"]), Sight(built=[one, other], source=["nvidia/550.120", "new/1"]))
    (argv,) = traces.ways_back(told, Path("/nowhere"), "debian")
    assert argv[4:] == ("-m", "nvidia", "-v", "550.120", "-k", "6.1", "-a", "x86_64")


def test_two_tries_are_one():
    first = Traces(packages=Moved(came={"a": "1"}, changed={"c": ["1", "2"]}), counted=True, new=["/etc/x"])
    second = Traces(packages=Moved(came={"b": "1"}, changed={"c": ["2", "3"]}), counted=True, new=["/etc/x", "/etc/y"])
    both = first.then(second)
    assert both.packages.came == {"a": "1", "b": "1"}
    assert both.packages.old() == {"c": "1"}
    assert both.new == ["/etc/x", "/etc/y"]


def test_the_distribution_is_read_from_its_own_file():
    assert distribution(Says({"/etc/os-release": 'NAME="A"\nID="opensuse-leap"\n'})) == "opensuse-leap"
    assert distribution(Says()) == ""


# -- files of the manager ----------------------------------------------------------------------------


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A package manager whose files lie in a folder of the test's."""

    folder = tmp_path / "apt"
    (folder / "keyrings").mkdir(parents=True)
    (folder / "sources.list").write_text("deb https://mirror.example/debian bookworm main\n")
    own = package_manager("debian")
    assert own is not None
    row = msgspec.structs.replace(own, settings=[str(folder), str(tmp_path / "not-there")])
    monkeypatch.setattr(traces, "package_manager", lambda _name: row)
    return folder


STEP = make_as("add-package-source", {"provider": "somebody"}, (("apt-get", "update"),))


def run(argv: tuple[str, ...]) -> None:
    import subprocess

    subprocess.run(argv, check=True)


def test_a_source_that_was_added_is_taken_out_and_one_that_was_changed_is_as_before(sources, tmp_path):
    host = Says(dpkg_query="installed bash 1\n")
    before = traces.sight(STEP, host)
    traces.counted(tmp_path / "kept", before)
    (sources / "sources.list").write_text("deb https://mirror.example/debian bookworm main contrib\n")
    (sources / "sources.list.d").mkdir()
    (sources / "sources.list.d" / "vendor.list").write_text("deb https://vendor.example /\n")
    (sources / "keyrings" / "vendor.gpg").write_bytes(b"\x00key")
    told = traces.between(before, traces.sight(STEP, host))
    for argv in traces.ways_back(told, tmp_path / "kept", "debian"):
        run(argv)
    assert (sources / "sources.list").read_text() == "deb https://mirror.example/debian bookworm main\n"
    assert [path.name for path in sources.rglob("*") if path.is_file()] == ["sources.list"]


def test_what_somebody_added_since_stays(sources, tmp_path):
    host = Says(dpkg_query="installed bash 1\n")
    before = traces.sight(STEP, host)
    traces.counted(tmp_path / "kept", before)
    told = traces.between(before, traces.sight(STEP, host))
    (sources / "theirs.list").write_text("deb https://other.example /\n")
    assert not told
    assert list(traces.ways_back(told, tmp_path / "kept", "debian")) == []


def test_steps_that_change_no_packages_are_not_counted():
    assert traces.leaves(STEP)
    assert traces.leaves(structs.replace(STEP, root=True, network=False, commands=(("dkms", "autoinstall"),)))
    assert not traces.leaves(structs.replace(STEP, root=True, network=False, commands=(("usermod", "-aG", "render", "ada"),)))
    assert not traces.leaves(structs.replace(STEP, root=False, network=True, commands=(("curl", "-O", "https://a.example"),)))
    assert traces.leaves(structs.replace(STEP, root=False, network=True, commands=(("/e/bin/python", "-m", "pip", "install", "x"),)))


# -- a Python that is changed where it is ------------------------------------------------------------

# A Python of two talents: it lists its packages, and its pip adds and removes lines of that list.
_PYTHON = """#!/bin/sh
list="$(dirname "$0")/list"
case "$1 $2 $3" in
    "-m pip install") shift 3; [ "$1" != --no-deps ] || shift; for one; do
        sed -i "/^${one%%=*} /d" "$list"; echo "$one" | sed 's/==/ /; /==\\| /!s/$/ 9/' >> "$list"; done;;
    "-m pip uninstall") shift 4; for one; do sed -i "/^$one /d" "$list"; done;;
    *) cat "$list";;
esac
"""


def test_packages_that_came_into_an_environment_in_its_place_go_again(world: World) -> None:
    python = world.files / "bin" / "python"
    python.parent.mkdir()
    python.write_text(_PYTHON)
    python.chmod(0o755)
    there = python.parent / "list"
    there.write_text("traitlets 5\ntorch 2.6.0+cu124\n")
    argv = ((str(python), "-m", "pip", "install", "ipykernel", "traitlets"),)
    step = needed(make_as("register-kernel", {"name": "project", "folder": str(world.files / "k")}, argv, ()))
    status, said = world.run([step])
    assert status == 0, said
    assert there.read_text() == "torch 2.6.0+cu124\nipykernel 9\ntraitlets 9\n"
    assert world.rigup("undo", "--yes")[0] == 0
    assert sorted(there.read_text().splitlines()) == ["torch 2.6.0+cu124", "traitlets 5"]


def test_packages_of_an_environment_that_is_gone_need_no_way_back(world: World) -> None:
    python = world.files / "bin" / "python"
    python.parent.mkdir()
    python.write_text(_PYTHON)
    python.chmod(0o755)
    (python.parent / "list").write_text("")
    argv = ((str(python), "-m", "pip", "install", "ipykernel"),)
    step = needed(make_as("register-kernel", {"name": "project", "folder": str(world.files / "k")}, argv, ()))
    assert world.run([step])[0] == 0
    shutil.rmtree(python.parent)
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said


def test_keys_that_rpm_came_to_trust_go_by_their_own_way():
    told = "installed gpg-pubkey.(none) 0:aaaa-1111\ninstalled bash.x86_64 0:5-1\n"
    more = told + "installed gpg-pubkey.(none) 0:bbbb-2222\ninstalled nvidia-open.x86_64 0:580-1\n"
    before, after = packages(Says(rpm=told)), packages(Says(rpm=more))
    assert before is not None
    assert after is not None
    assert back(moved(before, after), "rocky") == [
        ("dnf", "remove", "-y", "--setopt=clean_requirements_on_remove=False", "nvidia-open.x86_64"),
        ("rpm", "-e", "gpg-pubkey-bbbb-2222"),
    ]


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("fedora", ("dnf", "install", "-y", "kernel-6.8-1.x86_64", "mesa-libGL-25.0-2.x86_64")),
        ("opensuse-leap", ("zypper", "--non-interactive", "install", "--oldpackage", "kernel-6.8-1.x86_64", "mesa-libGL.x86_64=25.0-2")),
    ],
)
def test_each_manager_names_a_version_in_its_own_way(system, words):
    told = moved(
        {"kernel.x86_64": "0:6.8-1 0:6.9-1", "mesa-libGL.x86_64": "1:25.0-2"}, {"kernel.x86_64": "0:6.9-1", "mesa-libGL.x86_64": "1:26.0-1"}
    )
    assert back(told, system) == [words]


def test_pacman_takes_older_releases_from_its_cache(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("mesa-1:25.0-1-x86_64.pkg.tar.zst", "mesa-1:25.0-1-x86_64.pkg.tar.zst.sig", "mesa-1:26.0-1-x86_64.pkg.tar.zst"):
        (cache / name).touch()
    (argv,) = back(Moved(changed={"mesa": ["1:25.0-1", "1:26.0-1"]}), "arch")
    shell, option, script, *words = argv
    script = script.replace("/var/cache/pacman/pkg", str(cache)).replace("exec pacman", "printf '%s\\n'")
    import subprocess

    done = subprocess.run([shell, option, script, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-U", "--noconfirm", f"{cache}/mesa-1:25.0-1-x86_64.pkg.tar.zst"]
