"""`rigup train port --json`: what turns a script for one CUDA card into one for any device, and for many."""

from typing import Literal

from msgspec import Struct


class PortChange(Struct, frozen=True, kw_only=True):
    """A change of the script.

    Attributes:
        kind: what it is about.
        line: of the script as it was, from 1.
        why: a sentence.

    """

    kind: str
    line: int
    why: str


class PortRemark(Struct, frozen=True, kw_only=True):
    """What is left to somebody's judgement.

    Attributes:
        kind: what it is about.
        line: of the script as it was, from 1.
        text: a sentence.
        stops: what it stands in the way of: "ranks" of many processes, for which nothing is changed then; "devices" of those other than
            CUDA's; "all" of every change; "" of nothing.

    """

    kind: str
    line: int
    text: str
    stops: Literal["", "ranks", "devices", "all"]


class TrainPort(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.train-port/1"):
    """What turns a script for one CUDA card into one for any device, and for many.

    Attributes:
        verdict: many where it trains on any device and on many then; device where it runs on any device alone, both but for what
            remarks that stop "devices" name; already where something places its work; unchanged where there is nothing to change, or
            nothing that can be changed safely.
        script: its path.
        framework: what places its work already; "" for nothing.
        changes: by line.
        remarks: by line.
        diff: unified; "" where nothing is changed.
        written: whether the file was changed.

    """

    verdict: Literal["many", "device", "already", "unchanged"]
    script: str
    framework: str
    changes: list[PortChange]
    remarks: list[PortRemark]
    diff: str
    written: bool
