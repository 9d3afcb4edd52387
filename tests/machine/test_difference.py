"""What differs between two machines: nothing from itself, the same seen from the other side, the broken thing first."""

import functools

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from packs import cases, machine_folder
from rigup.diagnosis.answer import answer, examined
from rigup.diagnosis.suspects import causes_of, ranked
from rigup.machine.difference import CHANGED, GONE, NEW, differences, leaders
from rigup.machine.facts import kinds
from rigup.machine.fingerprint import Fingerprint, fingerprint
from rigup.machine.look import look
from rigup.machine.sources import open_source

SHELL, HERE = ("", "", "shell", ""), ("", "", "", "")
KINDS = ("Variable", "Gpu", "Package", "Account", "KernelModule", "DkmsBuild", "Memory", "Platform", "LoaderEntry")
MIRRORED = {CHANGED: CHANGED, GONE: NEW, NEW: GONE}
words = st.text("abc1.~/", max_size=6)
values = st.one_of(words, st.none(), st.booleans(), st.integers(0, 2**40), st.lists(words, max_size=4).map(sorted))


@st.composite
def rows(draw, kind):
    names = sorted(kinds()[kind].__annotations__)
    found = draw(st.lists(st.dictionaries(st.sampled_from(names), values, max_size=4), max_size=4))
    return sorted(((draw(st.sampled_from([HERE, SHELL])), fields) for fields in found), key=repr)


@st.composite
def fingerprints(draw):
    facts = {kind: draw(rows(kind)) for kind in draw(st.sets(st.sampled_from(KINDS)))}
    whole = {kind: [HERE, SHELL] for kind in draw(st.sets(st.sampled_from(KINDS)))}
    refused = {kind: ["/proc/x"] for kind in draw(st.sets(st.sampled_from(KINDS), max_size=2))}
    return Fingerprint(facts=facts, whole=whole, refused=refused, work=draw(st.lists(st.just("~/a"), max_size=1)))


def plain(found):
    return sorted(repr(one._replace(echo_of="", unbuilt=())) for one in found)


@given(fingerprints())
def test_a_machine_differs_from_itself_in_nothing(machine):
    assert differences(machine, machine) == []


@example(Fingerprint(facts={"Gpu": [(HERE, {"vendor": []})]}), Fingerprint())
@given(fingerprints(), fingerprints())
def test_the_other_way_round_it_is_the_same(one, other):
    turned = [found._replace(before=found.after, after=found.before, change=MIRRORED[found.change]) for found in differences(other, one)]
    assert plain(differences(one, other)) == plain(turned)


@given(fingerprints(), fingerprints())
def test_every_echo_names_a_difference_that_stands_for_itself(one, other):
    found = differences(one, other)
    names = {leader.name for leader in leaders(found)}
    assert {echo.echo_of for echo in found if echo.echo_of} <= names
    assert sorted(map(repr, ranked(found, []))) == sorted(map(repr, found))


@given(fingerprints())
def test_a_fingerprint_can_be_kept(machine):
    assert msgspec.json.decode(msgspec.json.encode(machine), type=Fingerprint) == machine


def variable(value, **more):
    rows = [(SHELL, {"name": "CUDA_VISIBLE_DEVICES", "value": value})] if value else []
    return Fingerprint(facts={"Variable": rows}, **more)


def test_only_who_looked_can_miss_something():
    seen = variable("0")
    assert differences(seen, Fingerprint()) == []
    assert [one.change for one in differences(seen, variable("", whole={"Variable": [SHELL]}))] == [GONE]


def test_a_refused_look_shows_no_absence():
    cut = variable("", whole={"Variable": [SHELL]}, refused={"Variable": ["env"]})
    assert differences(variable("0"), cut) == []
    assert differences(variable("0", refused={"Variable": ["env"]}), cut) != []


def test_an_environment_of_a_folder_that_somebody_worked_in_is_not_new():
    env = {"PythonEnv": [(HERE, {"prefix": "~/a/deep/.venv"})]}
    one = Fingerprint(facts=env, whole={"PythonEnv": [HERE]}, work=["~/a/deep"])
    assert differences(Fingerprint(whole={"PythonEnv": [HERE]}, work=["~/b"]), one) == []
    assert differences(Fingerprint(whole={"PythonEnv": [HERE]}, work=["~/a/deep"]), one) != []


def test_sizes_that_a_kernel_rounds_are_the_same():
    small, less, half = (Fingerprint(facts={"Memory": [(HERE, {"total": size})]}) for size in (1000, 990, 500))
    assert differences(small, less) == []
    assert differences(small, half) != []


def test_what_was_taken_out_of_a_capture_is_unknown():
    assert differences(variable("left-out"), variable("0")) == []


def test_packages_go_with_their_environment():
    facts = {
        "PythonEnv": [(HERE, {"prefix": "~/v"})],
        "Package": [(HERE, {"env": "~/v", "name": name, "version": "1"}) for name in ("torch", "numpy")],
    }
    whole = {"PythonEnv": [HERE], "Package": [HERE]}
    found = differences(Fingerprint(facts=facts), Fingerprint(whole=whole))
    assert [one.name for one in leaders(found)] == ["PythonEnv ~/v"]
    assert len(found) == 3


# -- machines ----------------------------------------------------------------------------------------

BROKEN = {  # a break of a healthy machine: kind, subject and, where it tells more, a part of what was or is
    "amdgpu-not-loaded/break-amd-workstation": ("Gpu", "0000:03:00.0", "amdgpu"),
    "apu-gtt-limit-not-applied/break-amd-strix-halo": ("ModuleParameter", "amdgpu gtt_size", ""),
    "compute-mode-exclusive/break-nvidia-workstation": ("Gpu", "0000:01:00.0", "Exclusive_Process"),
    "container-toolkit-missing/break-nvidia-workstation": ("SystemPackage", "libnvidia-container-tools", ""),
    "cpu-instruction-set-missing/break-cpu-server": ("Cpu", "", "avx2"),
    "cpu-only-torch/break-nvidia-workstation": ("Torch", "~/venv", "2.5.1+cpu"),
    "cuda-torch-on-amd/break-amd-workstation": ("Torch", "~/venv", "2.5.1+cu124"),
    "cuda-visible-devices-wrong/break-nvidia-two-cards": ("Variable", "CUDA_VISIBLE_DEVICES", "2,3"),
    "device-node-permissions/break-nvidia-workstation": ("DeviceNode", "/dev/nvidia", "video"),
    "dkms-stale-tree/break-amd-workstation": ("DkmsTree", "amdgpu 6.7.0", ""),
    "docker-flavour-without-gpu/break-nvidia-workstation": ("ContainerEngine", "docker", "desktop"),
    "double-visibility-mask/break-amd-dgpu-with-igpu": ("Variable", "HIP_VISIBLE_DEVICES", "1"),
    "driver-too-old-for-wheel/break-nvidia-workstation": ("Torch", "~/venv", "2.9.1+cu130"),
    "glibc-too-old-for-wheel/break-hpc-node": ("Distribution", "", "7"),
    "gpu-needs-legacy-driver/break-nvidia-two-cards": ("Driver", "nvidia", "595.58.03"),
    "hybrid-laptop-gpu-powered-off/break-hybrid-laptop": ("GraphicsSwitch", "prime-select", "integrated"),
    "jetson-generic-wheel/break-jetson-orin": ("Torch", "~/.local", "2.5.1+cpu"),
    "jupyter-kernel-other-env/break-nvidia-workstation": ("JupyterKernel", "venv", "/usr"),
    "kernel-module-not-built/break-nvidia-workstation": ("Platform", "", "6.8.0-51-generic"),
    "libcuda-stub-loaded/break-nvidia-workstation": ("Variable", "LD_LIBRARY_PATH", "stubs"),
    "mig-enabled-without-instance/break-hpc-node": ("Gpu", "", "True"),
    "nouveau-bound/break-nvidia-workstation": ("Gpu", "0000:01:00.0", "nouveau"),
    "nvcc-differs-from-torch-cuda/break-nvidia-workstation": ("Toolkit", "cuda", "11.8"),
    "nvml-driver-library-mismatch/break-nvidia-workstation": ("DriverLibrary", "lib", "550.127.05"),
    "render-group-missing/break-amd-strix-halo": ("Account", "", "render"),
    "torch-torchvision-mismatch/break-nvidia-workstation": ("Package", "torchvision", "0.19.1"),
}


def facts_of(folder):
    return look(open_source(str(folder)))


@functools.cache
def healthy(base):
    return fingerprint(facts_of(machine_folder(base)))


@pytest.mark.parametrize("name", BROKEN)
def test_the_broken_thing_is_among_the_first_three(name, tmp_path):
    case = cases()[name]
    broken = examined(open_source(case.unpack(tmp_path)))
    found = differences(healthy(case.label["base"]), fingerprint(broken.facts))
    first = leaders(ranked(found, answer(broken).findings))[:3]
    kind, subject, part = BROKEN[name]
    fitting = [one for one in first if one.kind == kind and subject in one.subject]
    assert any(part in str(one.before) + str(one.after) for one in fitting), first


@pytest.mark.parametrize("base", ["nvidia-workstation", "amd-strix-halo", "macbook", "wsl-nvidia"])
def test_a_machine_read_twice_is_the_same(base):
    assert differences(healthy(base), fingerprint(facts_of(machine_folder(base)))) == []


def test_a_new_kernel_tells_which_modules_lack(tmp_path):
    name = "kernel-module-not-built/break-nvidia-workstation"
    case = cases()[name]
    broken = fingerprint(facts_of(case.unpack(tmp_path)))
    first = differences(healthy(case.label["base"]), broken)[0]
    assert (first.kind, first.field) == ("Platform", "release")
    assert first.unbuilt == ("nvidia",)
    assert "kernel-module-not-built" in causes_of(first, ["kernel-module-not-built"])


def test_volatile_things_do_not_count(tmp_path):
    import json
    import shutil

    copy = tmp_path / "machine"
    shutil.copytree(machine_folder("nvidia-workstation"), copy, symlinks=True)
    meminfo = copy / "proc" / "meminfo"
    meminfo.write_text(meminfo.read_text().replace("MemAvailable:", "MemAvailable:   1 kB\nWas:"))
    who = json.loads((copy / "who.json").read_text())
    who["environment"] |= {"PWD": "/tmp", "TERM": "dumb", "SHLVL": "9", "SLURM_JOB_ID": "7", "SSH_TTY": "/dev/pts/9"}
    (copy / "who.json").write_text(json.dumps(who))
    assert differences(fingerprint(facts_of(machine_folder("nvidia-workstation"))), fingerprint(facts_of(copy))) == []


@pytest.mark.parametrize(("one", "other"), [("gfx1100", "gfx1101"), (None, "gfx1100")])
def test_a_card_that_nothing_else_tells_apart_has_one_name_from_both_sides(one, other):
    before, after = (Fingerprint(facts={"Gpu": [(SHELL, {"isa": isa})]}, whole={}, refused={}, work=[]) for isa in (one, other))
    assert [found.subject for found in differences(before, after)] == ["gfx1100"]
    assert [found.subject for found in differences(after, before)] == ["gfx1100"]


CARDS = "GPU {0}: NVIDIA GeForce RTX 3090 (UUID: GPU-0a0b0c0d-1111-2222-3333-44445555660{0})\n"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (CARDS.format(0) + CARDS.format(1), CARDS.format(0), False),
        (CARDS.format(0), CARDS.format(0) + CARDS.format(1), False),
        (CARDS.format(0), CARDS.format(1).replace("GPU 1", "GPU 0"), False),
        (CARDS.format(0), CARDS.format(0), True),
        (CARDS.format(0), "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)\n", True),
    ],
)
def test_lists_with_other_cards_are_never_equal(one, other, equal, tmp_path):
    made = []
    for number, body in enumerate((one, other)):
        (tmp_path / f"{number}.txt").write_text(body)
        made.append(fingerprint(look(open_source(str(tmp_path / f"{number}.txt")))))
    assert (differences(*made) == []) is equal
