"""Tables of packages: which wheels there are, what is meant by a name, and where packages come from."""

import pytest
from packaging.utils import canonicalize_name

from rigup.knowledge import tables
from rigup.knowledge.dependents import dependents
from rigup.knowledge.meant import other_names, programs
from rigup.knowledge.numpy_ceilings import numpy_below
from rigup.knowledge.torch_builds import brought
from rigup.knowledge.wheels import pythons_with_wheel
from rigup.stack.frameworks.addons import Addon
from rigup.stack.notes import note


@pytest.mark.parametrize(
    ("package", "version", "system", "below"),
    [
        ("torch", "2.1.2+cu121", "linux", "2"),
        ("torch", "2.2.2", "macos", "2"),
        ("torch", "2.3.0", "linux", ""),
        ("torch", "2.4.0", "windows", "2"),
        ("torch", "2.4.1", "windows", ""),
        ("tensorflow", "2.10.1", "windows", "2"),
        ("tensorflow", "2.18.0", "linux", ""),
        ("jax", "0.4.1", "linux", ""),
        ("torch", "", "linux", ""),
    ],
)
def test_code_that_was_compiled_for_numpy_1_has_a_ceiling(package, version, system, below):
    assert numpy_below(package, version, system) == below


def test_the_build_that_a_pinned_torch_brings_is_that_of_the_platform():
    plain = brought("2.9.0", "cu128", "linux", "x86_64")
    assert plain is not None
    assert plain.pypi
    assert plain.variant == "cu128"
    named = brought("2.9.0", "cu128", "linux", "aarch64")
    assert named is not None
    assert not named.pypi
    assert named.cuda.startswith("12")
    newer = brought("2.11.0", "cu130", "linux", "aarch64")
    assert newer is not None
    assert newer.pypi
    assert brought("2.6.0", "cu118", "macos", "arm64") is None


def test_a_platform_that_is_not_named_has_no_wheel_and_silence_is_not_known():
    asked = ("3.9", "3.10", "3.14")
    assert pythons_with_wheel("paddlepaddle", "3.3.0", "linux", "aarch64", asked) == ()
    assert pythons_with_wheel("paddlepaddle", "3.2.1", "linux", "aarch64", asked) == ("3.9", "3.10")
    assert pythons_with_wheel("paddlepaddle", "0.0.1", "linux", "x86_64", asked) is None


def test_names_are_canonical_and_lead_to_no_other_of_them():
    names = other_names()
    assert all(canonicalize_name(one) == one for one in (*names, *names.values(), *programs()))
    assert not set(names.values()) & {*names, *programs()}
    assert not {*names} & {*programs()}


def test_a_program_of_a_repository_names_its_file_of_requirements():
    assert all(bool(row.requirements) == (row.by == "git") for row in programs().values())


def test_what_is_not_on_pypi_says_where_it_comes_from():
    addons = {row.package: row for row in tables.rows("torch_addons", "addon", Addon)}
    absent = [name for name, row in dependents("torch").items() if row.files == ["none"]]
    assert absent
    assert all(addons[name].requirement or addons[name].folder for name in absent)


def test_what_comes_as_source_and_is_compiled_for_torch_is_built_beside_it():
    addons = {row.package: row for row in tables.rows("torch_addons", "addon", Addon)}
    built = [name for name, row in dependents("torch").items() if row.files == ["source"] and name in addons]
    assert len(built) > 10
    assert [name for name in built if "--no-build-isolation" not in addons[name].options] == ["deepspeed"]
    assert all(note(row.says) for row in addons.values() if row.says)
