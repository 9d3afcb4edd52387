"""DKMS still has a version whose sources are gone."""

from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule
from rigup.machine.kinds import DkmsTree, Platform


@rule("dkms-stale-tree", "likely")
def registered_without_sources(
    stale: DkmsTree = one(registered=True, module=("amdgpu", "nvidia")), trees: Every[DkmsTree] = every(DkmsTree)
) -> Verdict:
    """Other versions of the module have their sources, this one has none."""
    others = [tree for tree in trees if tree.get("module") == stale.module and tree.get("version") != stale.version]
    return not stale.get("source") and any(tree.get("source") for tree in others) and {"module": stale.module, "version": stale.version}


@mends("dkms-stale-tree")
def what_was_not_built_meanwhile(platform: Platform | None = None) -> Params:
    """DKMS stopped at it before it built the module that is to be used."""
    release = platform.get("release") if platform is not None else None
    return {"kernel": release} if release else {"unknown": "kernel"}
