"""Differences between machines as data, each with a sentence that tells it."""

from collections.abc import Iterable
from typing import Any

from rigup.language import N_, _
from rigup.machine.difference import CHANGED, GONE, NEW, Difference
from rigup.schemas import shared

_SIZES = ("total", "vram", "gtt", "unified", "commit_limit")
_MOST_PARTS = 6  # of a list in a sentence
# What differs, by kind and field or by kind; {subject} is which one.
_WHAT = {
    "Platform.release": N_("The running kernel"), "Platform.version": N_("The operating system"),
    "Platform.secure_boot": N_("Secure Boot"), "Platform.hypervisor": N_("The hypervisor"),
    "Driver.version": N_("The driver of {subject}"), "Driver": N_("The driver of {subject}"),
    "Gpu.driver": N_("The kernel driver of card {subject}"), "Gpu": N_("Card {subject}"),
    "KernelModule.loaded": N_("Kernel module {subject}, loaded"), "KernelModule": N_("Kernel module {subject}"),
    "DkmsBuild": N_("DKMS build {subject}"), "Account.groups": N_("The groups of the account"),
    "DeviceNode": N_("Device file {subject}"), "Torch": N_("torch in {subject}"),
    "TensorFlow": N_("TensorFlow in {subject}"), "Variable": N_("Variable {subject}"),
    "DriverLibrary": N_("Driver library {subject}"), "LoaderEntry": N_("Library {subject} of the loader"),
    "PathLibrary": N_("Library {subject}"), "KernelParameter": N_("Kernel parameter {subject}"),
    "ModuleParameter": N_("Module parameter {subject}"), "PythonEnv": N_("Python environment {subject}"),
    "Package": N_("Package {subject}"), "SystemPackage": N_("System package {subject}"),
    "Toolkit": N_("Toolkit {subject}"), "Memory.total": N_("Main memory"), "SharedMemory.total": N_("Shared memory"),
    "Service": N_("Service {subject}"), "Group": N_("Group {subject}"), "Firmware": N_("Firmware {subject}"),
    "JupyterKernel": N_("Notebook kernel {subject}"), "GraphicsSwitch": N_("Graphics switch {subject}"),
    "Kernel": N_("Installed kernel {subject}"), "ContainerEngine": N_("Container engine {subject}"),
}  # fmt: skip


def sentence(one: Difference) -> str:
    """One difference in words, without a full stop."""
    told = _changed(one) if one.change == CHANGED else _appeared(one)
    if one.unbuilt:
        modules = ", ".join(one.unbuilt)
        told = _("{sentence}; not built for it: {modules}").format(sentence=told, modules=modules)
    elsewhere = one.place not in ("", "shell")  # the shell is whose eyes it is seen with
    return _("{sentence} (in {place})").format(sentence=told, place=one.place) if elsewhere else told


def _appeared(one: Difference) -> str:
    value = one.before if one.change == GONE else one.after
    plain = value is True or str(value) in one.subject
    if one.change == NEW:
        said = _("{what}: new") if plain else _("{what}: new ({value})")
    else:
        said = _("{what}: no longer there") if plain else _("{what}: no longer there (it was {value})")
    return said.format(what=_what(one), value=_value(one.field, value))


def _changed(one: Difference) -> str:
    mine, theirs = _parts(one)
    if isinstance(mine, list) and isinstance(theirs, list) and not (mine and theirs):
        said = _("{what}: now with {parts}") if theirs else _("{what}: no longer with {parts}")
        return said.format(what=_what(one), parts=_value(one.field, theirs or mine))
    before, after = _value(one.field, mine), _value(one.field, theirs)
    return _("{what}: {before} → {after}").format(what=_what(one), before=before, after=after)


def _parts(one: Difference) -> tuple[Any, Any]:
    """Both values; of two search paths the folders that only each has, unless nothing but their order differs."""
    if not (one.kind == "Variable" and one.subject.endswith("PATH") and one.before and one.after):
        return one.before, one.after
    mine, theirs = (list(dict.fromkeys(str(value).split(":"))) for value in (one.before, one.after))
    only = [part for part in mine if part not in theirs], [part for part in theirs if part not in mine]
    return only if any(only) else (one.before, one.after)


def _what(one: Difference) -> str:
    """What differs; a field that no table has words for by its own name."""
    exact = _WHAT.get(one.kind + "." + one.field)
    told = exact or _WHAT.get(one.kind, "")
    said = _(told).format(subject=one.subject) if one.subject or "{" not in told else ""
    said = said or " ".join(filter(None, (one.kind, one.subject)))
    plain = exact or one.field in ("", "version", "value")
    return said if plain else said + ", " + one.field.replace("_", " ")


def _value(field: str, value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value == "":
        return _("none")
    if isinstance(value, int) and field in _SIZES:
        return _("{size} GiB").format(size=round(value / 2**30, 1))
    if isinstance(value, list):
        more = ["…"] if len(value) > _MOST_PARTS else []
        return ", ".join([*(str(part) for part in value[:_MOST_PARTS]), *more]) or _("none")
    return str(value)


def told_of(found: Iterable[Difference], causes: Iterable[str] = ()) -> list[shared.Difference]:
    """Differences as answers have them, each with its sentence."""
    from rigup.diagnosis.suspects import causes_of

    there = list(causes)
    return [
        shared.Difference(
            id=one.name, kind=one.kind, subject=one.subject, field=one.field, before=one.before, after=one.after,
            change=one.change, place=one.place, text=sentence(one), echo_of=one.echo_of or None,
            unbuilt=list(one.unbuilt), suspect_for=causes_of(one, there),
        )
        for one in found
    ]  # fmt: skip
