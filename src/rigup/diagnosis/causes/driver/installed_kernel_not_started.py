"""The machine starts an older kernel than the newest that is installed, again and again."""

import re

from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, seen, text_rule, wordings
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import Distribution, Platform, Symptom

_INSTALLED_THERE = ("arch", "endeavouros", "cachyos", "garuda", "manjaro")  # whose kernels lie on the boot partition
_OF_ARCH = re.compile(r"\.(arch|zen|hardened)(\d{1,2}-\d{1,2})\Z")


def _release(shown: Symptom) -> str:
    """As uname would tell it: pacman writes a kernel's release with dots."""
    return _OF_ARCH.sub(r"-\1\2", str(shown.get("kernel")))


@text_rule("installed-kernel-not-started")
def restarted_and_the_older_kernel_runs(
    missing: Symptom = seen("modprobe-module-not-found", "module-folder-not-there"),
    shown: Symptom = seen(tag="installed-kernel-shown"),
    platform: Platform | None = None,
    _restarted: Symptom = seen(tag="restarted"),
) -> Verdict:
    """After a restart the newest kernel runs, unless the boot loader was given another or never got the new one."""
    running = str(missing.get("kernel") or (platform.get("release") if platform is not None else "") or "")
    newer = _release(shown)
    older = bool(running) and version_key(running) < version_key(newer)
    return older and not inside(missing) and {"running": running, "kernel": newer}


@mends("installed-kernel-not-started")
def partition_that_did_not_get_it(
    listed: Every[Symptom] = every(Symptom),
    system: Distribution | None = one(id=_INSTALLED_THERE),
    lost: Symptom | None = seen("boot-partition-mounted-nowhere"),
    mounted: Symptom | None = seen("boot-partition-mounted"),
) -> Params:
    """Where kernels lie on the boot partition, one that is not mounted keeps the kernel that it had."""
    known = wordings(tag="installed-kernel-shown")
    newest = {"kernel": max((_release(symptom) for symptom in listed if symptom.id in known), key=version_key)}
    if system is None or not system.get("id") or lost is None or mounted is not None:
        return newest
    return {**newest, "partition": lost.partition, "package": "linux"}
