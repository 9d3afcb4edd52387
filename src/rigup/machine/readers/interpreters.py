"""What an interpreter is built for, from the head of its file: nothing is run."""

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import PythonEnv
from rigup.machine.reader import File, Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Text

_INTERPRETER = lazy_regex(r"(?P<prefix>.{0,300}?)/bin/python3\Z")

_HEAD = 4096  # characters in which a header and the loader's name lie
_ELF = lazy_regex(r"\A\x7fELF(?P<width>[\x01\x02])[\x01\x02][\s\S]{12}(?P<machine>[\s\S]{2})")
_ELF_MACHINES = {">\0": "x86_64", "\x03\0": "i386", "\x15\0": "ppc64le", "\0\x16": "s390x", "(\0": "armv7l"}
# Where the number is not to be read as text, the name of the loader tells.
_LOADER = lazy_regex(r"/ld-(?:linux|musl)-(?P<machine>aarch64|riscv64|loongarch|x86[-_]64)")
# Bytes that are no text stand as one sign each: those of Mach-O's magic, and of a file for several machines.
_MACH = lazy_regex(r"\A\ufffd{4}(?P<cpu>[\x07\x0c])\0\0\x01")
_FAT = lazy_regex(r"\A\ufffd{4}\0\0\0(?P<count>[\x01-\x08])")
_FAT_CPU = lazy_regex(r"\x01\0\0(?P<cpu>[\x07\x0c])")
_MACH_MACHINES = {"\x07": "x86_64", "\x0c": "arm64"}


def machine_of(head: str) -> str | None:
    """The one architecture that a program's head tells; None for several, and for a script."""
    if elf := _ELF.match(head):
        loader = _LOADER.search(head)
        return _ELF_MACHINES.get(elf["machine"]) or (loader["machine"].replace("-", "_") if loader else None)
    if mach := _MACH.match(head):
        return _MACH_MACHINES[mach["cpu"]]
    if fat := _FAT.match(head):
        found = {_MACH_MACHINES[part["cpu"]] for part in _FAT_CPU.finditer(head, 4, 8 + 20 * ord(fat["count"]))}
        return found.pop() if len(found) == 1 else None
    return None


@reads(inputs=[File("{PythonEnv.prefix}/bin/python3", most=_HEAD)], adds=(PythonEnv,), rank=2)
def interpreter_head(text: Text) -> Statements:
    """The first bytes: an interpreter for another machine runs through a translator, and takes that machine's wheels."""
    prefix = _INTERPRETER.match(text.source)
    machine = machine_of(text.body[:_HEAD])
    if prefix and machine:
        yield from says(text, PythonEnv, 0, prefix=prefix["prefix"] or "/", machine=machine)


@reads(marks=(": ELF 64-bit", ": Mach-O 64-bit"), adds=(PythonEnv,))
def file_says(text: Text) -> Statements:
    """`file -L …/bin/python3`: `ELF 64-bit LSB pie executable, x86-64, …`, `Mach-O 64-bit executable arm64`."""
    form = (
        r"^[> \t]{0,20}(?P<prefix>/[^\n:]{0,250}?)/bin/python[\d.]{0,5}: {1,8}"
        r"(?:ELF 64-bit [^\n,]{0,60}, (?:ARM )?(?P<elf>x86-64|aarch64)|Mach-O 64-bit executable (?P<mach>arm64|x86_64)$)"
    )
    for hit in text.each(form):
        machine = {"x86-64": "x86_64"}.get(hit["elf"] or hit["mach"], hit["elf"] or hit["mach"])
        yield hit.states(PythonEnv, prefix=hit["prefix"], machine=machine)


@reads(marks=(": Mach-O 64-bit",), adds=(PythonEnv,), rank=-1)
def release_in_the_name(text: Text) -> Statements:
    """`file $(which python3.11)`: the file's own name tells the release, where nothing tells more of it."""
    for hit in text.each(r"^[> \t]{0,20}(?P<prefix>/[^\n:]{0,250}?)/bin/python(?P<version>3\.\d{1,2}): {1,8}Mach-O 64-bit"):
        yield hit.states(PythonEnv, prefix=hit["prefix"], version=hit["version"])
