"""What holds of every choice, whatever the machine and the wish."""

import contextlib
import random
import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from answer_data import plan_of as answer
from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.plan.answer import named_plainly
from rigup.stack.choose import choose
from rigup.stack.profile import ProfileError, read_profile, read_profile_table
from rigup.stack.site import wanted
from rigup.stack.system_state import SystemState
from rigup.stack.weigh import serves_all
from rigup.stack.wish import Wish, WishError, read_wishes

pytestmark = pytest.mark.slow

CARDS = (
    "Tesla K80",
    "GTX 970",
    "GTX 1080 Ti",
    "Tesla P100-PCIE-16GB",
    "V100-PCIE-32GB",
    "Tesla T4",
    "RTX 2060",
    "A100-SXM4-80GB",
    "RTX 3090",
    "RTX 4090",
    "H100 PCIe",
    "NVIDIA B200",
    "RTX 5090",
    "GTX 780",
    "MI50",
    "MI210",
    "MI300X",
    "RX 580",
    "RX Vega 64",
    "RX 5700 XT",
    "RX 6700 XT",
    "RX 6800",
    "RX 7900 XTX",
    "RX 9070 XT",
    "Radeon 680M",
    "Radeon 780M",
    "Radeon 8060S",
    "Arc A770",
    "Arc B580",
    "Intel UHD Graphics 630",
)
DRIVERS = ("390.157", "450.248.02", "470.256.02", "525.147.05", "535.230.02", "550.163.01", "570.195.03", "580.95.05", "595.58.03")
SYSTEMS = ("ubuntu 20.04", "ubuntu 24.04", "debian 12", "centos 7", "rhel 9.4", "windows 11", "wsl", "fedora 43", "alpine 3.20")
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
WISHES = (
    "torch",
    "torch==2.4.1",
    "torch==2.7.1",
    "torch>=2.4,<2.8",
    "torchvision==0.21.0",
    "tensorflow",
    "jax",
    "vllm",
    "onnxruntime",
    "flash-attn",
    "bitsandbytes",
    "llama-cpp-python",
)
OTHERS = re.compile(r"\b(?:RX|Radeon|Instinct|MI\d|Arc|UHD|Iris|gfx\d)")  # cards that are not NVIDIA's
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])

machines = st.builds(
    lambda cards, driver, system, python, rest: ", ".join(
        part for part in (" + ".join(cards), f"driver {driver}", system, f"python {python}" if python else "", rest) if part
    ),
    st.lists(st.sampled_from(CARDS), min_size=1, max_size=3),
    st.sampled_from((*DRIVERS, "none")),
    st.sampled_from(SYSTEMS),
    st.sampled_from(("", *PYTHONS)),
    st.sampled_from(("", "no root", "rocm 6.1, no root", "open module")),
)


def chosen(profile, *wishes, **options):
    return choose(Wish(packages=read_wishes(wishes), **options), read_profile(profile))


def reach(choice):
    """How many wanted devices are served, and natively, and by which release: more of it is a newer stack."""
    told = [told for device, told in choice.devices if device in wanted(choice.site)]
    served = sum(one.served for one in told), sum(one.how == "native" for one in told)
    return served, version_key(choice.chosen[0].build.version) if choice.chosen else ()


def asks(choice):
    """How much a plan asks of a person outside the environment."""
    return sum(change.weight for change in choice.changes)


def compiled(build):
    """What the table itself says of a build of torch."""
    rows = [row for row in tables.table("torch_builds")["build"] if row["torch"] == build.version]
    codes = [row.get("code", []) for row in rows if row["variant"] == build.variant]
    return {code for listed in codes for code in listed}


def machine_code_fits(isa, code):
    """The rule of NVIDIA's programming guide, written down once more."""
    major, minor = int(isa[3:-1]), int(isa[-1])
    kinds = [(entry.split("_")[0], int(entry.split("_")[1][:-1]), int(entry.split("_")[1][-1])) for entry in code]
    return any(
        (kind == "sm" and big == major and small <= minor) or (kind == "compute" and (big, small) <= (major, minor))
        for kind, big, small in kinds
    )


@few
@given(machines, st.sampled_from(("torch", "torch==2.4.1", "torch==2.7.1", "torch>=2.4,<2.8")))
def test_no_plan_serves_a_device_whose_code_its_build_lacks(profile, wish):
    choice = chosen(profile, wish)
    extras = {row["isa"] for row in tables.table("torch_rocm")["device_extra"]}
    siblings = {row["isa"]: row.get("sibling") for row in tables.table("gfx_overrides")["override"]}
    for device, told in choice.devices:
        build = choice.chosen[0].build if choice.chosen else None
        if not told.served or build.kind not in ("cuda", "rocm"):
            continue
        code = compiled(build)
        if device.vendor == "nvidia":
            assert machine_code_fits(device.isa, {entry for entry in code if entry[:2] in ("sm", "co")})
        elif told.extra:
            assert device.isa in extras
        else:
            assert (siblings[device.isa] if told.override else device.isa) in code


@few
@given(machines, st.sampled_from(WISHES), st.data())
def test_an_older_driver_that_cannot_be_changed_never_gets_a_newer_stack(profile, wish, data):
    place = data.draw(st.integers(0, len(DRIVERS) - 2))
    assume("driver none" not in profile and "driver 595" not in profile)
    assume("K80" not in profile and "GTX 780" not in profile)  # the newer of these drivers no longer drive them
    assume(not OTHERS.search(profile))  # the stack may be another maker's, where NVIDIA's driver carries too little
    old, new = DRIVERS[place], data.draw(st.sampled_from(DRIVERS[place + 1 : -1] or DRIVERS[-2:-1]))
    driver = next(one for one in DRIVERS if one in profile)
    tight, loose = (chosen(profile.replace(driver, one), wish, no_root=True) for one in (old, new))
    assert reach(tight) <= reach(loose) or reach(tight)[0] < reach(loose)[0]


@few
@given(machines, st.sampled_from(WISHES))
def test_without_root_nobody_gets_a_newer_stack(profile, wish):
    assume("no root" not in profile)
    tight, loose = chosen(profile, wish, no_root=True), chosen(profile, wish)
    assert reach(tight)[0] <= reach(loose)[0]
    assert reach(tight)[0] < reach(loose)[0] or reach(tight) <= reach(loose)
    assert not any(change.root for change in tight.changes)


# A field of a machine, from the loosest value to the tightest.
LADDERS = {
    "glibc": ("2.41", "2.35", "2.31", "2.28", "2.27", "2.17", "2.12", ""),
    "disk": (10**12, 10**10, 5 * 10**9, 10**9),
    "lacks": ((), ("avx2",), ("avx2", "avx")),
    "macos": ("26.1", "15.6", "14.5", "13.6", "12.7", "11.6"),
    "amd_driver": ("", "6.4", "6.2", "6.0", "5.7", "5.4"),
    "kernel": ("6.17.0", "6.8.0", "5.15.0", "5.4.0"),
    "root": (True, False),
    "rosetta": (False, True),
    "virtual": (False, True),
}
MACS = ("Apple M1", "Apple M4")


@few
@given(machines, st.sampled_from(WISHES), st.sampled_from(sorted(LADDERS)), st.data())
def test_a_machine_that_is_tighter_in_anything_never_gets_a_newer_stack(profile, wish, field, data):
    if field in ("macos", "rosetta", "virtual"):
        profile = data.draw(st.sampled_from(MACS)) + ", macos 15.6"
    steps = LADDERS[field]
    place = data.draw(st.integers(0, len(steps) - 2))
    site = read_profile(profile)
    loose, tight = (
        choose(Wish(packages=read_wishes((wish,))), site.but(**{field: steps[at]}))
        for at in (place, data.draw(st.integers(place + 1, len(steps) - 1)))
    )
    assert reach(tight)[0] < reach(loose)[0] or reach(tight) <= reach(loose)


@few
@given(machines, st.sampled_from(("torch", "tensorflow", "jax", "torch==2.4.1")))
def test_a_conda_environment_never_reaches_less_than_wheels_alone(profile, wish):
    assert reach(chosen(profile, wish, manager="conda"))[0] >= reach(chosen(profile, wish))[0]


@few
@given(machines, st.sampled_from(WISHES), st.sampled_from(PYTHONS))
def test_a_python_that_is_asked_for_never_gets_a_newer_stack(profile, wish, python):
    profile = re.sub(r", python [\d.]+", "", profile)
    tight, loose = chosen(profile, wish, python=python), chosen(profile, wish)
    assert reach(tight)[0] <= reach(loose)[0]
    newer = reach(tight)[0] == reach(loose)[0] and reach(tight) > reach(loose)
    assert not newer or asks(tight) > asks(loose)  # that Python has no build that asks as little of the machine
    assert tight.python in (python, "")


@few
@given(machines, st.permutations(["torch", "torchvision", "torchaudio"]), st.randoms(use_true_random=False))
def test_the_order_of_cards_parts_and_packages_changes_nothing(profile, packages, chance):
    parts = profile.split(", ")
    cards = parts[0].split(" + ")
    chance.shuffle(cards)
    rest = parts[1:]
    chance.shuffle(rest)
    plain = chosen(profile, "torch", "torchvision", "torchaudio")
    mixed = chosen(", ".join([*rest, " + ".join(cards)]), *packages)
    assert plain.packages == mixed.packages
    assert (plain.python, plain.indexes, plain.smallest_change) == (mixed.python, mixed.indexes, mixed.smallest_change)
    assert sorted((device.name, told) for device, told in plain.devices) == sorted((device.name, told) for device, told in mixed.devices)


@pytest.mark.parametrize("wish", WISHES)
def test_the_order_of_the_tables_rows_changes_nothing(monkeypatch, wish):
    from rigup.knowledge import torch_builds
    from rigup.stack.frameworks import torch

    profiles = ("RTX 3090, driver 550.163.01, ubuntu 22.04", "GTX 1080 Ti + RTX 4090, ubuntu 22.04", "RX 6700 XT, ubuntu 24.04")
    before = [chosen(profile, wish).packages for profile in profiles]
    whole, chance = tables.table, random.Random(7)

    def shuffled(rows):
        return chance.sample(list(rows), len(rows))

    monkeypatch.setattr(torch, "builds", lambda *told: shuffled(torch_builds.builds(*told)))
    monkeypatch.setattr(
        tables, "table", lambda name: {key: shuffled(value) if isinstance(value, list) else value for key, value in whole(name).items()}
    )
    assert [chosen(profile, wish).packages for profile in profiles] == before


@few
@given(machines, st.sampled_from(WISHES))
def test_the_smallest_change_is_true(profile, wish):
    choice = chosen(profile, wish)
    if choice.remedy is None:
        return
    after = choose(choice.remedy.wish, choice.remedy.site)
    assert serves_all(after.chosen, after.site)
    assert choice.smallest_change.endswith(".")


@few
@given(machines, st.sampled_from(WISHES))
def test_every_build_that_was_turned_down_has_a_reason_and_its_source(profile, wish):
    lines = chosen(profile, wish).turned_down
    assert all(line.because.endswith(".") and line.source and line.candidate for line in lines)
    assert len({(line.candidate, line.because) for line in lines}) == len(lines)


def module_of(first, driver):
    """Whether the open kernel module is there after the plan: a new driver brings the one that its step names."""
    if driver == first.site.nvidia_driver:
        return first.site.open_module
    told = [step["params"]["module"] for step in answer(first)["steps"] if step["kind"] == "install-driver-packages"]
    return told[0] == "open" if told else None


@few
@given(
    machines, st.sampled_from(("torch", "torch==2.7.1", "tensorflow", "jax", "bitsandbytes", "cupy", "paddlepaddle", "xformers", "vllm"))
)
def test_what_is_planned_and_then_there_is_ready(profile, wish):
    first = chosen(profile, wish)
    assume(first.possible)
    changed = {change.change: change.to for change in first.changes}
    driver = changed.get("nvidia-driver") or changed.get("windows-driver") or first.site.nvidia_driver
    extra = {
        told.name: next((one.version for one in told.specifier if one.operator == "=="), "1.26.4")
        for told in map(Requirement, first.requirements)
    }
    brought = [step["params"]["packages"] for step in answer(first)["steps"] if step["kind"] == "install-system-packages"]
    there = first.site.but(
        installed=named_plainly(first.packages) | extra,
        variables=first.variables,
        python=first.python,
        pythons=(first.python,),
        nvidia_driver=driver,
        environment=".venv",
        open_module=module_of(first, driver),
        kernel="99.0" if "os" in changed else first.site.kernel,
        system_state=SystemState(
            toolkits={"rocm": (changed["rocm"],)} if "rocm" in changed else first.site.system_state.toolkits,
            packages=dict.fromkeys((name for told in brought for name in told.split(", ")), "1"),
        ),
        toolkit=changed.get("toolkit", "").removeprefix("CUDA ").partition(" ")[0] or first.site.toolkit,
    )
    again = choose(first.wish, there)
    assert again.packages == first.packages
    assert again.changes == ()
    assert answer(again)["verdict"] == "ready"


words = st.sampled_from(
    (
        "rtx 3090",
        "driver",
        "none",
        "535",
        "2x",
        "+",
        ",",
        ";",
        "\n",
        "ubuntu",
        "22.04",
        "python",
        "3.11",
        "no",
        "root",
        "gpu",
        "=",
        "[",
        '"',
    )
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(words, max_size=12).map(" ".join)))
def test_the_profile_parser_raises_its_own_error_alone(text):
    for read in (read_profile, read_profile_table):
        with contextlib.suppress(ProfileError):
            assert len(read(text).gpus) <= 200 * 64


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=60), st.sampled_from(["torch==2.6", "torch>=2", "-e .", "a[b]; x", "torch~=2.4"])), max_size=4))
def test_the_wish_parser_raises_its_own_error_alone(texts):
    with contextlib.suppress(WishError):
        assert read_wishes(texts)


@few
@given(machines, st.sampled_from(WISHES))
def test_an_answer_has_each_device_once_with_a_reason(profile, wish):
    plan = answer(chosen(profile, wish))
    assert [device["index"] for device in plan["devices"]] == list(range(len(plan["devices"])))
    assert all(device["because"] for device in plan["devices"])


def test_amds_own_driver_drives_no_card_of_intel():
    site = read_profile("Arc A770, ubuntu 20.04")
    plain, beside = (choose(Wish(packages=read_wishes(("torch",))), site.but(amd_driver=release)) for release in ("", "6.4"))
    assert plain.devices == beside.devices
