"""Level Zero and Intel's compute runtime are not installed, so programs do not find the GPU."""

from rigup.diagnosis.rule import Every, Params, Verdict, every, lacks, mends, one, rule, seen, text_rule
from rigup.knowledge.intel import compute_address, compute_packages, missing_beside
from rigup.machine.kinds import Account, Distribution, Gpu, Symptom, SystemPackage, Torch

_DRIVERS = ("i915", "xe")
_RUNTIMES = ("libze-intel-gpu1", "intel-level-zero-gpu", "intel-level-zero", "intel-compute-runtime", "intel-opencl-icd")


@rule("intel-compute-runtime-missing", "likely")
def torch_for_intel_without_its_runtime(
    torch: Torch,
    distribution: Distribution,
    card: Gpu = one(vendor="intel", driver=_DRIVERS),
    _missing: Every[SystemPackage] = lacks(SystemPackage, name=_RUNTIMES),
) -> Verdict:
    """Somebody wants to compute on it, and no package of the distribution brings what that goes through."""
    wanted = "+xpu" in str(torch.get("version")) and torch.get("xpu_available") is not True
    known = compute_packages(str(distribution.id), str(distribution.get("version"))) is not None
    return wanted and known and {"card": card}


@text_rule("intel-compute-runtime-missing", "likely")
def opencl_has_no_platform_for_one_who_may_open_the_card(
    card: Gpu = one(vendor="intel", driver=("i915", "xe")),
    symptom: Symptom = seen("opencl-finds-no-platform"),
    account: Account | None = None,
    other: Gpu | None = one(vendor=("nvidia", "amd")),
) -> Verdict:
    """Intel's runtime shows a platform of OpenCL wherever it may open the device: of who may not it tells nothing."""
    may = account is not None and "render" in (account.get("groups") or ())
    return may and other is None and {"card": card, "said": symptom.id}


@text_rule("intel-compute-runtime-missing", "likely")
def torch_finds_nothing_for_one_who_may_open_the_card(
    torch: Torch = one(xpu_available=False),
    account: Account = one(),
    missed: Symptom | None = seen("level-zero-loader-not-found", "oneapi-library-not-found"),
) -> Verdict:
    """PyTorch's build for Intel loads, the account is in the group, and no device answers: the driver of Level Zero is not there."""
    may = "render" in (account.get("groups") or ())
    return may and missed is None and "+xpu" in str(torch.get("version")) and {"torch": torch}


@mends("intel-compute-runtime-missing")
def packages_of_intels_runtime(distribution: Distribution | None = None) -> Params:
    """The distribution's own, or of a source that is added to it, else Intel's page."""
    if distribution is None or not distribution.get("id"):
        return {}
    source = compute_packages(str(distribution.get("id")), str(distribution.get("version")))
    if source is not None:
        return {"provider" if source.setup else "alone": source.provider or "distribution", "packages": ", ".join(source.packages)}
    return {"address": compute_address("linux")}


@mends("intel-compute-runtime-missing")
def package_that_a_list_lacks(installed: Every[SystemPackage] = every(SystemPackage, state="installed")) -> Params:
    """What is missing beside those of its kind that are there, whose source is known to the machine."""
    missing = missing_beside({str(package.name) for package in installed})
    return {"missing": ", ".join(missing), "packages": None, "address": None} if missing else {}
