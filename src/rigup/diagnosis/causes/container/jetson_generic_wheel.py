"""This torch is not built for a Jetson."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule
from rigup.knowledge.jetson import jetpack_of_l4t, jetson_wheels
from rigup.machine.kinds import Jetson, Torch


def _generic(torch: Torch) -> bool:
    none = (torch.knows("cuda") and torch.cuda is None) or torch.get("available") is False
    return none and torch.get("available") is not True and ".nv" not in torch.version


@rule("jetson-generic-wheel")
def wheel_is_not_nvidias(jetson: Jetson, torch: Torch) -> Verdict:
    """NVIDIA's own builds are named after their release: nv23.05."""
    return jetson.knows("l4t") | jetson.knows("kernel") | jetson.knows("model") and _generic(torch)


@rule("jetson-generic-wheel", strength="likely")
def wheel_of_a_server_on_a_module(jetson: Jetson, torch: Torch) -> Verdict:
    """PyTorch's own index names its CUDA in the version; its wheels for Arm are made for servers, whatever CUDA they have."""
    release = jetpack_of_l4t(jetson.l4t)
    foreign = bool(torch.get("cuda")) and "+cu" in torch.version and torch.get("available") is not True
    return foreign and release is not None and not release.generic


@rule("jetson-generic-wheel", strength="possible")
def some_wheel_on_a_jetson(jetson: Jetson, torch: Torch = one(available=False)) -> Verdict:
    """Which build it is nobody tells; on a Jetson it is mostly this."""
    return (jetson.knows("l4t") or jetson.knows("model")) and not torch.knows("version") and not torch.knows("cuda")


@rule("jetson-generic-wheel", strength="likely")
def wheel_is_not_nvidias_by_the_prompt(jetson: Jetson, torch: Torch) -> Verdict:
    """The machine is named after a module."""
    return jetson.knows("prompt") and _generic(torch)


@mends("jetson-generic-wheel")
def build_of_nvidia(knew: Params, jetson: Jetson | None = None) -> Params:
    """Wheels go by the release of the module's system; of those that lie in an index the newest."""
    l4t = str((jetson and jetson.get("l4t")) or "")
    release = jetpack_of_l4t(l4t) if l4t else None
    if knew.get("package"):
        return {"program": f"JetPack {release.release}" if release else "JetPack"}
    wheel = next((row for row in jetson_wheels(release.release) if row.index), None) if release else None
    if wheel is not None:
        return {"torch": wheel.torch, "torchvision": wheel.torchvision, "index": wheel.index}
    file = next((row for row in jetson_wheels(release.release) if row.links), None) if release else None
    return {"l4t": l4t or None, **({"file": file.torch, "links": file.links} if file else {})}
