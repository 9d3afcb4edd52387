"""Single lines that tell of builds."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import Cpu, Distribution, Package, Platform, Torch
from rigup.machine.readers import build_lines
from rigup.machine.texts import Text

_READERS = (
    build_lines.libc_on_a_line,
    build_lines.prompt_of_windows,
    build_lines.processor_flags,
    build_lines.folders_of_nvidias_packages,
    build_lines.already_installed,
    build_lines.torch_and_its_toolkit,
    build_lines.tensorflow_on_a_line,
    build_lines.tensorflow_asked_for_several,
    build_lines.tensorflow_asked_one_by_one,
    build_lines.windows_and_release,
)
_PIECES = st.sampled_from(
    [
        "glibc-2.17-1.el7",
        "glibc 2.31",
        "cp311-cp311-manylinux_2_17_x86_64",
        "C:\\",
        ">",
        "PS ",
        "flags : fpu ",
        "nvidia_nccl_cu12-2.1.3.dist-info",
        "\n",
        "Requirement already satisfied: torch",
        " (1.0)",
        "- Installing torch (2.4.1)",
        "torch==1.9.0 (cu111)",
        "tensorflow 2.15.0",
        "tf.__version__",
        "False",
        "tf$version$VERSION",
        '[1] "2.13.0"',
        "Windows-10-10.0.19045",
        "\0",
        "é",
        " ",
    ]
)


def _told(reader, body, kind):
    facts = reader(Text("said.txt", body))
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in facts if isinstance(fact, kind)]


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_readers_take_any_text(body):
    for reader in _READERS:
        assert len(list(reader(Text("said.txt", body)))) <= 2 * len(body) + 2


def test_the_libc_is_told_by_its_package_and_by_getconf():
    assert _told(build_lines.libc_on_a_line, "$ rpm -q glibc\nglibc-2.17-317.el7.x86_64\n", Distribution) == [{"glibc": "2.17"}]
    assert _told(build_lines.libc_on_a_line, "glibc 2.28\n", Distribution) == [{"glibc": "2.28"}]
    assert _told(build_lines.libc_on_a_line, "needs glibc 2.28 or newer\n", Distribution) == []


def test_a_prompt_on_a_drive_is_of_windows():
    assert _told(build_lines.prompt_of_windows, "(base) D:\\ai>python -V\n", Platform) == [{"system": "windows"}]
    assert _told(build_lines.prompt_of_windows, "see C:\\Users\\ada for it\n", Platform) == []


def test_folders_of_nvidias_packages_name_their_release():
    told = _told(build_lines.folders_of_nvidias_packages, "nvidia_nccl_cu12-2.21.5.dist-info\n", Package)
    assert [(row["name"], row["version"]) for row in told] == [("nvidia-nccl-cu12", "2.21.5")]


def test_what_pip_found_is_installed():
    told = _told(
        build_lines.already_installed, "Requirement already satisfied: torch==1.12.1 in /opt/e/site-packages (1.12.1+cu113)\n", Package
    )
    assert [(row["name"], row["version"]) for row in told] == [("torch", "1.12.1+cu113")]


def test_torchs_toolkit_in_brackets_and_flags_by_themselves():
    assert _told(build_lines.torch_and_its_toolkit, "torch==1.8.1  (cu102)\n", Torch) == [{"version": "1.8.1", "cuda": "10.2"}]
    body = "flags           : fpu vme de pse tsc msr pae mce cx8 apic sep mtrr constant_tsc\n"
    assert "constant_tsc" in _told(build_lines.processor_flags, body, Cpu)[0]["flags"]
