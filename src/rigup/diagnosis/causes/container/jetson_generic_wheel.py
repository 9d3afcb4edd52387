"""This torch is not built for a Jetson."""

from rigup.diagnosis.causes.jetson_builds import where_it_lies
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.jetson import jetpack_of_l4t, jetson_wheels
from rigup.machine.kinds import Jetson, PythonEnv, Symptom, Torch


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


_TORCH = ("torch", "torchvision", "torchaudio")


@text_rule("jetson-generic-wheel")
def no_wheel_in_an_index_for_others(
    symptom: Symptom = seen("pip-no-version", "uv-python-tags-only", "uv-has-no-wheel-for-this-python-cut"),
    jetson: Jetson = one(),
    torch: Torch | None = one(available=True),
) -> Verdict:
    """Before JetPack 7 torch for a Jetson lies in places of its own, for the Python of its JetPack alone."""
    release = jetpack_of_l4t(str(jetson.get("l4t") or ""))
    name = symptom.get("name") or ("torch" if "torch" in symptom.fields["id"].where.text else "")
    return torch is None and name in _TORCH and release is not None and not release.generic and {"said": symptom.id, "wanted": name}


@mends("jetson-generic-wheel")
def build_of_nvidia(knew: Params, jetson: Jetson | None = None, python: PythonEnv | None = None) -> Params:
    """Wheels go by the release of the module's system and by its Python; of those that lie in an index the newest."""
    l4t = str((jetson and jetson.get("l4t")) or "")
    release = jetpack_of_l4t(l4t) if l4t else None
    if knew.get("package"):
        return {"program": f"JetPack {release.release}" if release else "JetPack"}
    have = ".".join(str((python and python.get("version")) or "").split(".")[:2])
    wheels = jetson_wheels(release.release) if release else []
    fitting = [row for row in wheels if not have or have in row.python] or wheels
    other = fitting[0].python[0] if have and fitting and have not in fitting[0].python else None
    place = where_it_lies(fitting)
    alone = None if other or place.get("library") else "its own"  # what needs no library beside it
    return {
        "l4t": l4t or None,
        "bare": None if place else l4t or None,
        "other_python": other,
        "same_python": None if other else "its own",
        "bare_python": alone,
        "bare_index": "its own" if other and not place.get("library") else None,
        **place,
    }
