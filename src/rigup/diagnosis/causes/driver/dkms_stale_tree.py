"""DKMS still has a version whose sources are gone."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule
from rigup.machine.kinds import DkmsTree


@rule("dkms-stale-tree", "likely")
def registered_without_sources(
    stale: DkmsTree = one(registered=True, module=("amdgpu", "nvidia")), trees: Every[DkmsTree] = every(DkmsTree)
) -> Verdict:
    """Other versions of the module have their sources, this one has none."""
    others = [tree for tree in trees if tree.get("module") == stale.module and tree.get("version") != stale.version]
    return not stale.get("source") and any(tree.get("source") for tree in others) and {"module": stale.module, "version": stale.version}
