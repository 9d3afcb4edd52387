"""What stands between a program and an Intel GPU, as people show it: the kernel, the runtime."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.intel_driver import older_than_card
from rigup.machine.kinds import Account, Gpu, Platform, Symptom


@rule("intel-kernel-too-old", "likely")
def no_node_for_a_card_that_the_kernel_does_not_know(
    card: Gpu = one(vendor="intel"), platform: Platform = one(system="linux"), symptom: Symptom = seen("render-nodes-not-there")
) -> Verdict:  # fmt: skip
    """The bus shows the card, and no driver made a node for it."""
    release = None if card.get("driver") else older_than_card(card, platform)
    return release and {**release, "said": symptom.id}


@rule("intel-compute-runtime-missing", "likely")
def opencl_has_no_platform_for_one_who_may_open_the_card(
    card: Gpu = one(vendor="intel", driver=("i915", "xe")), symptom: Symptom = seen("opencl-finds-no-platform"),
    account: Account | None = None, other: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:  # fmt: skip
    """Intel's runtime shows a platform of OpenCL wherever it may open the device: of who may not it tells nothing."""
    may = account is not None and "render" in (account.get("groups") or ())
    return may and other is None and {"card": card, "said": symptom.id}
