"""What stands on a machine already: packages, groups, engines, kernels."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge.driver_origins import driver_source
from rigup.stack.seen import look_at
from rigup.stack.seen_system import amd_release
from rigup.stack.system_state import SystemState


@pytest.fixture
def machine(tmp_path):
    """A small tree with a driver from a distribution's archive, an engine, and groups."""

    def made(version="550.120-0ubuntu0.24.04.1", groups="27(sudo),44(video)"):
        for folder in ("proc", "var/lib/dpkg", "etc"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "var/lib/dpkg/status").write_text(
            f"Package: nvidia-driver-550\nStatus: install ok installed\nVersion: {version}\n\n"
            "Package: amdgpu-dkms\nStatus: install ok installed\nVersion: 1:6.8.5.60204-2070768.22.04\n"
        )
        (tmp_path / "etc/os-release").write_text('ID=ubuntu\nVERSION_ID="24.04"\n')
        (tmp_path / "commands.json").write_text(
            json.dumps([{"argv": ["id"], "exit": 0, "stdout": f"uid=1000(ada) gid=1000(ada) groups=1000(ada),{groups}\n", "stderr": ""}])
        )
        return look_at(str(tmp_path))

    return made


def test_a_driver_tells_whose_packages_it_is_made_of(machine):
    assert machine().system_state.driver_source == "Ubuntu's archive"


def test_a_version_that_several_use_tells_nothing(machine):
    assert machine("550.54.15-0ubuntu1").system_state.driver_source == ""


def test_amds_release_is_read_from_its_kernel_package(machine):
    assert machine().amd_driver == "6.2"


def test_the_accounts_groups_are_known(machine):
    assert {"video", "sudo"} <= set(machine().system_state.groups)


@pytest.mark.parametrize(
    ("version", "release"),
    [("1:6.8.5.60204-2070768.22.04", "6.2"), ("6.10.5.60302-1", "6.3"), ("1:6.14.14.30100000-2204008.24.04", "30.10"), ("6.1.0", None)],
)
def test_the_release_inside_a_version(version, release):
    assert amd_release(SystemState(packages={"amdgpu-dkms": version})) == release


@given(st.lists(st.tuples(st.sampled_from(("dpkg", "rpm", "pacman")), st.text(max_size=30), st.text(max_size=30)), max_size=5))
def test_any_names_and_versions_are_taken(packages):
    assert isinstance(driver_source(packages), str)
    for _manager, _name, version in packages:
        release = amd_release(SystemState(packages={"amdgpu-dkms": version}))
        assert release is None or release.replace(".", "").isdigit()
