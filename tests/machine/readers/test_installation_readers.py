"""What is installed beside the usual: toolkits, environments that tools make, interpreters for another machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import LoaderEntry, PythonEnv, Toolkit
from rigup.machine.readers.interpreters import machine_of


def elf(number, loader=""):
    return b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00" + bytes([number, 0]) + bytes(40) + loader.encode() + b"\xff\xf0"


MACH_ARM, MACH_INTEL = b"\xcf\xfa\xed\xfe\x0c\0\0\x01" + bytes(20), b"\xcf\xfa\xed\xfe\x07\0\0\x01" + bytes(20)
FAT = b"\xca\xfe\xba\xbe\0\0\0\x02" + b"\x01\0\0\x07" + bytes(16) + b"\x01\0\0\x0c" + bytes(16)
THIN = b"\xca\xfe\xba\xbe\0\0\0\x01" + b"\x01\0\0\x07" + bytes(16)


@pytest.mark.parametrize(
    ("head", "machine"),
    [
        (elf(62), "x86_64"),
        (elf(0xB7, "/lib/ld-linux-aarch64.so.1"), "aarch64"),
        (elf(0xB7), None),
        (elf(0xF3, "/lib/ld-linux-riscv64-lp64d.so.1"), "riscv64"),
        (elf(62, "/lib/ld-musl-x86_64.so.1"), "x86_64"),
        (MACH_ARM, "arm64"),
        (MACH_INTEL, "x86_64"),
        (FAT, None),
        (THIN, "x86_64"),
        (b"#!/bin/sh\n", None),
        (b"", None),
    ],
)
def test_the_head_of_a_program_tells_its_machine(head, machine):
    assert machine_of(head.decode("utf-8", "replace")) == machine


@given(st.binary(max_size=300))
def test_any_head_tells_a_machine_or_none(head):
    for start in (b"", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"):
        machine_of((start + head).decode("utf-8", "replace"))


def test_an_interpreter_for_another_machine_is_seen_without_running_it(tree):
    intel = elf(62).decode("utf-8", "replace")
    facts = tree({"/home/u/venv/pyvenv.cfg": "home = /usr/bin\n", "/home/u/venv/bin/python3": intel, "/proc/sys/kernel/arch": "aarch64\n"})
    assert [env.machine for env in facts.of(PythonEnv) if env.prefix == "/home/u/venv"] == ["x86_64"]


def test_what_file_says_of_an_interpreter(pasted):
    said = "/opt/homebrew/bin/python3: Mach-O 64-bit executable arm64\n/home/u/e/bin/python3.11: ELF 64-bit LSB pie executable, x86-64, version 1\n"
    assert {env.prefix: env.machine for env in pasted(said).of(PythonEnv)} == {"/opt/homebrew": "arm64", "/home/u/e": "x86_64"}


@pytest.mark.long
@pytest.mark.parametrize(
    "folder",
    [
        "/home/u/.local/share/pipx/venvs/tool",
        "/home/u/.local/share/uv/tools/tool",
        "/home/u/.cache/pypoetry/virtualenvs/x-py3.11",
        "/home/u/.pyenv/versions/3.11.9/envs/dl",
        "/home/u/.local/share/virtualenvs/x-1",
        "/home/u/.local/share/hatch/env/virtual/a/b/c",
        "/home/u/Library/Caches/pypoetry/virtualenvs/x",
        "/home/u/code/.venv",
        "/opt/app/venv",
    ],
)
def test_environments_that_tools_make(tree, folder):
    facts = tree({folder + "/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.9\n"})
    assert [(env.prefix, env.version) for env in facts.of(PythonEnv)] == [(folder, "3.11.9")]


def test_condas_relatives(tree, pasted):
    facts = tree({}, folders=["/home/u/.local/share/mamba/envs/dl/conda-meta", "/home/u/code/.pixi/envs/default/conda-meta"])
    assert {env.prefix for env in facts.of(PythonEnv)} == {"/home/u/.local/share/mamba/envs/dl", "/home/u/code/.pixi/envs/default"}
    said = "# conda environments:\n#\nbase                     /opt/conda\ndl                    *  /home/u/envs/dl\n\n"
    envs = {env.prefix: env.get("active") for env in pasted(said).of(PythonEnv)}
    assert envs == {"/opt/conda": None, "/home/u/envs/dl": True}


def test_toolkits_by_their_folders_and_headers(tree):
    facts = tree(
        {
            "/usr/local/cuda/lib64/libcudnn.so.8.9.7": "",
            "/opt/intel/oneapi/compiler/2025.0/x": "",
            "/opt/intel/oneapi/compiler/latest": "-> 2025.0",
            "/usr/include/cudnn_version.h": "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n",
        }
    )
    assert {(kit.name, kit.version) for kit in facts.of(Toolkit)} == {("cudnn", "8.9.7"), ("cudnn", "9.1.0"), ("oneapi-compiler", "2025.0")}


def test_what_a_name_of_the_loaders_cache_leads_to(tree):
    cache = "1 libs found in cache\n\tlibcudnn.so.9 (libc6,x86-64) => /usr/lib/libcudnn.so.9\n"
    facts = tree(
        {"/usr/lib/libcudnn.so.9": "-> libcudnn.so.9.1.0", "/usr/lib/libcudnn.so.9.1.0": ""},
        commands=[{"argv": ["ldconfig", "-p"], "exit": 0, "stdout": cache, "stderr": ""}],
    )
    assert [(entry.soname, entry.version) for entry in facts.of(LoaderEntry)] == [("libcudnn.so.9", "9.1.0")]
    assert ("cudnn", "9.1.0") in {(kit.name, kit.version) for kit in facts.of(Toolkit)}
