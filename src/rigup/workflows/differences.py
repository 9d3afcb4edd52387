"""Differences between machines as data, each with a sentence."""

from collections.abc import Iterable
from typing import Any

from rigup.language import N_, _
from rigup.machine.difference import CHANGED, GONE, NEW, Difference
from rigup.schemas import shared

_SIZES = ("total", "vram", "gtt", "unified", "commit_limit")
_MOST_PARTS = 6  # of a list in a sentence
# What differs, by kind and field or by kind; {subject} is which one.
_WHAT = {
    "Platform.release": N_("The running kernel"),
    "Platform.version": N_("The operating system"),
    "Platform.secure_boot": N_("Secure Boot"),
    "Platform.hypervisor": N_("The hypervisor"),
    "Driver.version": N_("The driver of {subject}"),
    "Driver": N_("The driver of {subject}"),
    "Gpu.driver": N_("The kernel driver of card {subject}"),
    "Gpu": N_("Card {subject}"),
    "KernelModule.loaded": N_("Kernel module {subject}, loaded"),
    "KernelModule": N_("Kernel module {subject}"),
    "DkmsBuild": N_("DKMS build {subject}"),
    "Account.groups": N_("The groups of the account"),
    "DeviceNode": N_("Device file {subject}"),
    "Torch": N_("torch in {subject}"),
    "TensorFlow": N_("TensorFlow in {subject}"),
    "Variable": N_("Variable {subject}"),
    "DriverLibrary": N_("Driver library {subject}"),
    "LoaderEntry": N_("Library {subject} of the loader"),
    "PathLibrary": N_("Library {subject}"),
    "KernelParameter": N_("Kernel parameter {subject}"),
    "ModuleParameter": N_("Module parameter {subject}"),
    "PythonEnv": N_("Python environment {subject}"),
    "Package": N_("Package {subject}"),
    "SystemPackage": N_("System package {subject}"),
    "Toolkit": N_("Toolkit {subject}"),
    "Memory.total": N_("Main memory"),
    "SharedMemory.total": N_("Shared memory"),
    "Service": N_("Service {subject}"),
    "Group": N_("Group {subject}"),
    "Firmware": N_("Firmware {subject}"),
    "JupyterKernel": N_("Notebook kernel {subject}"),
    "GraphicsSwitch": N_("Graphics switch {subject}"),
    "Kernel": N_("Installed kernel {subject}"),
    "ContainerEngine": N_("Container engine {subject}"),
}


def sentence(difference: Difference) -> str:
    """One difference in words, without a full stop."""
    text = _changed(difference) if difference.change == CHANGED else _appeared(difference)
    if difference.unbuilt:
        modules = ", ".join(difference.unbuilt)
        text = _("{sentence}; not built for it: {modules}").format(sentence=text, modules=modules)
    elsewhere = difference.place not in ("", "shell")  # the shell is whose eyes it is seen with
    return _("{sentence} (in {place})").format(sentence=text, place=difference.place) if elsewhere else text


def _appeared(difference: Difference) -> str:
    value = difference.before if difference.change == GONE else difference.after
    plain = value is True or str(value) in difference.subject
    if difference.change == NEW:
        template = _("{what}: new") if plain else _("{what}: new ({value})")
    else:
        template = _("{what}: no longer there") if plain else _("{what}: no longer there (it was {value})")
    return template.format(what=_what(difference), value=_value(difference.field, value))


def _changed(difference: Difference) -> str:
    mine, theirs = _parts(difference)
    if isinstance(mine, list) and isinstance(theirs, list) and not (mine and theirs):
        template = _("{what}: now with {parts}") if theirs else _("{what}: no longer with {parts}")
        return template.format(what=_what(difference), parts=_value(difference.field, theirs or mine))
    before, after = _value(difference.field, mine), _value(difference.field, theirs)
    return _("{what}: {before} → {after}").format(what=_what(difference), before=before, after=after)


def _parts(difference: Difference) -> tuple[Any, Any]:
    """Both values; of two search paths the folders that only each has, unless nothing but their order differs."""
    if not (difference.kind == "Variable" and difference.subject.endswith("PATH") and difference.before and difference.after):
        return difference.before, difference.after
    mine, theirs = (list(dict.fromkeys(str(value).split(":"))) for value in (difference.before, difference.after))
    only = [part for part in mine if part not in theirs], [part for part in theirs if part not in mine]
    return only if any(only) else (difference.before, difference.after)


def _what(difference: Difference) -> str:
    """What differs; a field that no table has words for by its own name."""
    exact = _WHAT.get(difference.kind + "." + difference.field)
    template = exact or _WHAT.get(difference.kind, "")
    text = _(template).format(subject=difference.subject) if difference.subject or "{" not in template else ""
    text = text or " ".join(filter(None, (difference.kind, difference.subject)))
    plain = exact or difference.field in ("", "version", "value")
    return text if plain else text + ", " + difference.field.replace("_", " ")


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


def difference_rows(differences: Iterable[Difference], causes: Iterable[str] = ()) -> list[shared.Difference]:
    """Differences as answers have them, each with its sentence."""
    from rigup.diagnosis.suspects import causes_of

    named = list(causes)
    return [
        shared.Difference(
            id=difference.name,
            kind=difference.kind,
            subject=difference.subject,
            field=difference.field,
            before=difference.before,
            after=difference.after,
            change=difference.change,
            place=difference.place,
            text=sentence(difference),
            echo_of=difference.echo_of or None,
            unbuilt=list(difference.unbuilt),
            suspect_for=causes_of(difference, named),
        )
        for difference in differences
    ]
