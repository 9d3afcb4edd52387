"""Steps at the kernel that are no driver: its release, its arguments, options of its modules, groups."""

import re
from collections.abc import Iterator

from rigup.knowledge import gtt
from rigup.knowledge.cuda import version_key
from rigup.knowledge.holes import filled
from rigup.knowledge.surroundings import kernel_argument, newer_kernel, offered_kernel
from rigup.language import _, sentences
from rigup.plan.place import owns_kernel, seen
from rigup.stack.candidate import Change
from rigup.stack.site import Site
from rigup.steps import Step, make, make_as

_OPTION = re.compile(r"(?P<module>[A-Za-z0-9_]{1,40})\.(?P<name>[A-Za-z0-9_]{1,40})=(?P<value>[A-Za-z0-9_,:.+-]{1,100})")
_ARGUMENT = re.compile(r"[A-Za-z0-9_.]{1,60}(?:=[A-Za-z0-9_,:./@+-]{1,200})?")
_GROUP = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def parameter_steps(change: Change, site: Site) -> Iterator[Step]:
    """An option of a module goes into modprobe's folder, anything else onto the kernel's command line."""
    option = _OPTION.fullmatch(change.to.strip())
    if option and option["module"] == "ttm" and option["value"].isdigit():
        yield from memory_steps(int(option["value"]), site, change.why)
    elif option:
        yield make("set-module-option", option.groupdict(), because=change.why, **seen(site))
    else:
        yield _argument(change, site)


def memory_steps(pages: int, site: Site, because: str = "") -> Iterator[Step]:
    """Raise what an integrated GPU may map of the system's memory, in pages of 4 KiB."""
    for module, name, value in gtt.options(pages, site.kernel, bool(site.amd_driver)):
        params = {"module": module, "name": name, "value": value}
        yield make("set-module-option", params, because=because, **seen(site))


def _argument(change: Change, site: Site) -> Step:
    argument = change.to.strip()
    recipe = kernel_argument(site.distribution) if owns_kernel(site) and _ARGUMENT.fullmatch(argument) else None
    commands, undo = (recipe.commands, recipe.undo) if recipe else ([], [])
    values = {"argument": argument, "name": re.sub(r"[^A-Za-z0-9]+", "-", argument)}
    return make_as(
        "set-kernel-argument",
        {"argument": argument},
        filled(commands, values),
        filled(undo, values),
        writes=tuple(path for (path,) in filled([[path] for path in recipe.writes] if recipe else [], values)),
        because=change.why,
        **seen(site),
    )


def kernel_steps(change: Change, site: Site) -> Iterator[Step]:
    """A newer kernel, where the distribution offers one."""
    recipe = newer_kernel(site.distribution) if owns_kernel(site) else None
    offered = offered_kernel(site.distribution, site.release)
    enough = not offered or version_key(offered)[:2] >= version_key(change.to)[:2]
    commands = filled(recipe.commands, {"release": site.release}) if recipe and enough else ()
    note = "" if commands else _("This distribution's own kernel is older: its next release has a newer one.")
    yield make_as("install-kernel", {"version": change.to}, commands, because=sentences(change.why, note), **seen(site))


def group_steps(change: Change, site: Site) -> Iterator[Step]:
    """Groups that own the device files; they count from the next login on."""
    for group in re.split(r"[\s,]+", change.to.strip()):
        if _GROUP.fullmatch(group):
            yield make("join-group-yourself", {"group": group}, because=change.why, **seen(site))
    yield make("log-in-again", {})
