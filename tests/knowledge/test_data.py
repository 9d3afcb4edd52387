"""One look over all tables: provenance, keys, versions, architectures, references."""

import re
from datetime import date
from itertools import chain

import pytest

from rigup.knowledge import chips, doctor_tables, lookup, tables
from rigup.knowledge.compile import DATA, build

HOWS = {"measured", "documented", "reported"}
TOP = [name for name in tables.names() if "/" not in name]
ISA = re.compile(r"(?:sm|compute)_\d+[af]?|gfx\d+[0-9a-f]*")


def every_row(name):
    for array, found in lookup.arrays(tables.table(name)):
        for row in found:
            yield array, row


def test_all_sources_can_be_read():
    _, errors = build(DATA)
    assert errors == {}


@pytest.mark.parametrize("name", TOP)
def test_rows_say_where_they_come_from(name):
    for array, row in every_row(name):
        where = (name, array, str(row)[:120])
        assert isinstance(row.get("source"), str), where
        assert row["source"].strip(" -"), where
        assert row.get("how") in HOWS, where
        assert date.fromisoformat(str(row["checked"])) >= date(2026, 1, 1), where


@pytest.mark.parametrize("name", TOP)
def test_tables_are_dated_and_their_keys_tell_rows_apart(name):
    found = tables.table(name)
    assert date.fromisoformat(tables.table_date(name))
    for array, rows in lookup.arrays(found):
        if isinstance(found[array], dict):
            continue
        fields = found["meta"]["keys"][array]
        keys = [repr([row.get(field) for field in fields]) for row in rows]
        assert len(keys) == len(set(keys)), (name, array)
        assert all(any(row.get(field) for field in fields) for row in rows), (name, array)


def isa_lists():
    fields = ("isa", "isas", "code", "members", "isas_official", "isas_deprecated", "sibling", "isa_min")
    for name in TOP:
        for array, row in every_row(name):
            for field in fields:
                value = row.get(field)
                for isa in value if isinstance(value, list) else [value] if value else []:
                    yield name, array, field, isa


def test_every_architecture_is_known():
    gfx = {row["isa"] for row in tables.table("gfx_targets")["target"]}
    cuda = tables.table("cuda_driver")
    sm = {row["isa"] for row in tables.table("gpus_nvidia")["chip"]}
    sm |= {isa for row in cuda["toolkit_compile"] for isa in row["isas"]}
    sm |= {isa for row in cuda["last_branch"] for isa in row["isas"]} | {"sm_30", "sm_107"}
    prose = {"escape_hatch"}  # speaks of a range in words
    for name, array, field, isa in isa_lists():
        if array in prose or isa == "mps":
            continue
        assert ISA.fullmatch(isa), (name, array, field, isa)
        plain = isa.replace("compute_", "sm_")
        assert isa in gfx or plain in sm, (name, array, field, isa)


def test_targets_agree_in_their_three_spellings():
    for row in tables.table("gfx_targets")["target"]:
        assert chips.gfx_of_decimal(row["decimal"]) == row["isa"]
        assert chips.gfx_of_target_version(row["target_version"]) == row["isa"]


def test_pci_ids_are_four_hexadecimal_digits():
    for name in ("pci_nvidia", "pci_amd", "pci_intel"):
        for row in tables.table(name)["device"]:
            parts = [row["id"], row.get("subvendor", "0000"), row.get("subdevice", "0000")]
            assert all(re.fullmatch(r"[0-9a-f]{4}", part) for part in parts), row


VERSION_FIELDS = {
    "cuda_driver": ("cuda", "branch", "linux", "windows", "last_branch", "first_branch"),
    "torch_builds": ("cuda", "rocm", "glibc", "macos", "first_torch", "linux", "windows"),
    "torch_companions": ("torch", "torchvision", "torchaudio", "torchcodec"),
    "torch_releases": ("torch",),
    "rocm_releases": ("version", "driver"),
    "gfx_overrides": ("value", "decimal", "native_torch", "native_rocm", "last_rocm"),
    "directml": ("torch", "torchvision"),
}


@pytest.mark.parametrize("name", VERSION_FIELDS)
def test_versions_are_versions(name):
    for array, row in every_row(name):
        if array in {"xpu", "cudnn", "variant_code", "rocm_code"}:
            continue  # ranges in words
        for field in VERSION_FIELDS[name]:
            value = row.get(field)
            if value is not None and not value.startswith("nightly"):
                assert re.fullmatch(r"[0-9]+(\.[0-9]+)*", value), (name, array, field, value)


def test_builds_belong_to_known_releases_and_variants():
    releases = {row["torch"] for row in tables.table("torch_releases")["release"]} | {"nightly"}
    variants = {row["variant"] for row in tables.table("torch_builds")["variant"]}
    for row in tables.table("torch_builds")["build"]:
        assert row["torch"] in releases
        assert row["variant"] in variants or not row["variant"].startswith("cu"), row
        assert row.get("pypi") or row["index"].startswith("https://")
        assert row["python"], row
    companions = {row["torch"] for row in tables.table("torch_companions")["companion"]}
    assert companions == releases - {"nightly"}


def test_each_platform_of_a_release_has_one_build_on_pypi():
    rows = [row for row in tables.table("torch_builds")["build"] if row.get("pypi")]
    keys = [(row["torch"], row["system"], row["machine"]) for row in rows]
    assert len(keys) == len(set(keys))


def test_products_and_pci_ids_name_known_chips_and_architectures():
    known = tables.table("gpus_nvidia")
    known_chips = {row["chip"]: row for row in known["chip"]}
    for row in known["gpu"]:
        assert {known_chips[chip]["isa"] for chip in row["chips"]} == set(row["isas"]), row["name"]
    for row in tables.table("pci_nvidia")["device"]:
        assert known_chips[row["chip"]]["isa"] == row["isa"], row


def test_overrides_stay_in_their_family():
    family = {row["isa"]: row.get("generic") for row in tables.table("gfx_targets")["target"]}
    for row in tables.table("gfx_overrides")["override"]:
        if row.get("value"):
            assert chips.gfx_of_decimal(row["value"]) == row["sibling"]
            assert family[row["isa"]] == family[row["sibling"]], row["isa"]
            assert row["value"] not in row.get("bad_values", [])
        else:
            assert not row.get("safe")


def test_distributions_name_known_providers():
    found = tables.table("distro_drivers")
    providers = {row["id"] for row in found["provider"]}
    repositories = {row["repo_dir"] for row in found["cuda_repo"]}
    for row in found["distro"]:
        assert set(row["providers"]) <= providers, row["id"]
        folder = row.get("cuda_repo_dir", "")
        assert not re.fullmatch(r"\w+", folder) or folder in repositories, row["id"]


def test_commands_are_argument_vectors():
    for name in ("distro_drivers", "containers"):
        for array, row in every_row(name):
            for field, value in row.items():
                if field.startswith("install_") and isinstance(value, list):
                    assert all(isinstance(word, str) for word in chain.from_iterable(value)), (array, field)


def test_causes_stand_in_known_layers_and_signatures_mean_known_causes():
    causes = doctor_tables.causes()
    assert {cause.layer for cause in causes.values()} <= set(doctor_tables.layers())
    assert {cause.severity for cause in causes.values()} <= {"error", "warning", "note"}
    means = {row.means for row in doctor_tables.signatures() if row.means}
    assert means <= set(causes)
