"""torchvision or torchaudio does not belong to the torch that is installed."""

from rigup.diagnosis.causes.framework.programs import plain_system
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.program_builds import folder_of_wheel, is_package, newest_on
from rigup.knowledge.torch_builds import build, companions, index_url
from rigup.knowledge.torch_changes import variant_of_index
from rigup.machine.kinds import Package, Platform, Symptom, Torch


@rule("torch-torchvision-mismatch")
def torchvision_misses_its_own_operators(
    symptom: Symptom = seen("torchvision-nms-missing"),
    checkout: Symptom | None = seen("torchvision-of-torch-hub"),
    torch: Package | None = one(name=("torch", "pytorch")),
    vision: Package | None = one(name="torchvision"),
) -> Verdict:
    """They are compiled against one release of torch; the sources that torch.hub imports in their place have none, whatever is installed."""
    friends = companions(str(torch.version)) if torch else None
    pair = friends is not None and vision is not None and version_key(friends.torchvision)[:2] == version_key(str(vision.version))[:2]
    return not (checkout and pair) and {**symptom.values(), "companion": "torchvision"}


_FLASH = "flash_attn"


def _is_prerelease(*packages: Package) -> bool:
    """Nightlies, and builds of NVIDIA's own, pair otherwise."""
    return any(mark in str(package.version) for package in packages for mark in ("a0", "dev", "rc", "nv", "git"))


@rule("torch-torchvision-mismatch")
def versions_of_two_releases(torch: Package = one(name=("torch", "pytorch")), vision: Package = one(name="torchvision")) -> Verdict:
    """torchvision is made for one release of torch."""
    friends = companions(torch.version)
    if torch.get("env") != vision.get("env") or not friends or friends.extrapolated or _is_prerelease(torch, vision):
        return False
    differs = version_key(friends.torchvision)[:2] != version_key(vision.version)[:2]
    return differs and {"have": torch.version, "other": vision.version, "companion": "torchvision", "env": torch.get("env")}


@rule("torch-torchvision-mismatch")
def audio_of_another_release(torch: Package = one(name=("torch", "pytorch")), audio: Package = one(name="torchaudio")) -> Verdict:
    """torchaudio is made for one release of torch too, as long as the table names one."""
    friends = companions(torch.version)
    if torch.get("env") != audio.get("env") or not friends or friends.extrapolated or _is_prerelease(torch, audio):
        return False
    named = bool(friends.torchaudio) and not friends.torchaudio_note
    differs = named and version_key(friends.torchaudio)[:2] != version_key(audio.version)[:2]
    return differs and {"have": torch.version, "other": audio.version, "companion": "torchaudio", "env": torch.get("env")}


def belongs_to(codec: Package, torch: Package) -> bool:
    """Whether a torchcodec is one of those made for the minor release of a torch; of releases that no table has it is."""
    minor = version_key(str(torch.version))[:2]
    rows = [friends for patch in range(3) if (friends := companions(".".join(map(str, (*minor, patch)))))]
    made = {version_key(row.torchcodec)[:2] for row in rows if row.torchcodec and not row.extrapolated}
    return not made or version_key(str(codec.version))[:2] in made


@rule("torch-torchvision-mismatch")
def codec_of_another_release(torch: Package = one(name=("torch", "pytorch")), codec: Package = one(name="torchcodec")) -> Verdict:
    """torchcodec is made for one minor release of torch."""
    friends = companions(torch.version)
    if torch.get("env") != codec.get("env") or not friends or friends.extrapolated or _is_prerelease(torch, codec):
        return False
    told = {"have": torch.version, "other": codec.version, "companion": "torchcodec", "env": torch.get("env")}
    return not belongs_to(codec, torch) and {**told, "codec": f"torchcodec=={friends.torchcodec}"}


@text_rule("torch-torchvision-mismatch")
def codec_misses_a_symbol_of_torch(
    _symbol: Symptom = seen("torchcodec-misses-a-symbol"), codec: Package | None = one(name="torchcodec")
) -> Verdict:
    """It finds FFmpeg, and not what another torch has."""
    return codec is None and {"companion": "torchcodec"}


@mends("torch-torchvision-mismatch")
def codec_for_the_torch_that_is_there(knew: Params, torch: Torch | None = None) -> Params:
    """By the table alone; nothing of torch is touched."""
    if knew.get("companion") != "torchcodec":
        return {}
    friends = companions(str(torch.get("version") or "").partition("+")[0]) if torch else None
    wanted = knew.get("codec") or (friends and not friends.extrapolated and friends.torchcodec and f"torchcodec=={friends.torchcodec}")
    empty = dict.fromkeys(("release", "torchvision", "index", "pair", "again", "rebuilt", "audio"))
    return {**empty, "paired": None, "alone": wanted or None, "optional": None if wanted else "torchcodec", "codec": wanted or "none"}


def _toolkit_of(package: Package) -> str:
    """What a build's local part names; AMD's own wheels say besides of which commit each was made."""
    return str(package.version).partition("+")[2].partition(".git")[0]


@rule("torch-torchvision-mismatch")
def builds_for_two_toolkits(torch: Package = one(name="torch"), vision: Package = one(name=("torchvision", "torchaudio"))) -> Verdict:
    """`+cu121` beside `+cpu`."""
    mine, theirs = _toolkit_of(torch), _toolkit_of(vision)
    plain = all(local.startswith(("cu", "cpu", "rocm")) and "." not in local[:4] for local in (mine, theirs))
    differs = torch.get("env") == vision.get("env") and plain and mine != theirs
    boxes = "cuda" if vision.name == "torchvision" and theirs == "cpu" else None  # it can be imported all the same
    return differs and {"have": torch.version, "other": vision.version, "companion": vision.name, "boxes": boxes}


@text_rule("torch-torchvision-mismatch", "possible")
def torch_was_exchanged_and_torchvision_stops(
    frame: Symptom = seen("torchvision-stops-in-its-first-lines"), gone: Symptom = seen("pip-took-torch-away"), torch: Torch = one()
) -> Verdict:
    """A torch of another release was taken away, and torchvision, which was made for one of them, ends where it registers its operators."""
    return str(torch.version).partition("+")[0] != gone.old and {"said": frame.id, "companion": "torchvision", "have": torch.version}


@text_rule("torch-torchvision-mismatch")
def wheel_of_the_other_abi(wheel: Symptom = seen("wheel-names-its-abi"), told: Symptom = seen("torch-tells-its-abi")) -> Verdict:
    """The wheel's name says which C++ ABI it was built for, and torch tells its own."""
    mine = str(told.get("abi") or told.get("abi2") or told.get("abi3")).upper()
    return wheel.abi != mine and {
        "extension": wheel.extension,
        "module": wheel.extension,
        "theirs": f"cxx11abi{wheel.abi}",
        "mine": f"cxx11abi{mine}",
    }


@text_rule("torch-torchvision-mismatch", "likely")
def symbol_of_the_other_abi(symbol: Symptom = seen(tag="symbol-of-the-other-abi")) -> Verdict:
    """torch has that function in every release, under the name that its own C++ ABI gives it."""
    theirs, mine = ("FALSE", "TRUE") if symbol.get("old") else ("TRUE", "FALSE")
    own = _FLASH if str(symbol.module).startswith(_FLASH) else symbol.get("folder")
    return {"extension": own, "module": symbol.module, "theirs": f"cxx11abi{theirs}", "mine": f"cxx11abi{mine}"}


@mends("torch-torchvision-mismatch")
def same_wheel_for_the_abi_of_torch(knew: Params, wheel: Symptom | None = seen("wheel-names-its-abi")) -> Params:
    """Its makers publish each release for both; the name of the file tells them apart."""
    mine = str(knew.get("mine") or "")
    theirs = f"cxx11abi{wheel.abi}" if wheel is not None else mine
    if not mine or wheel is None or mine == theirs:
        return {"wheel_file": mine} if mine and not knew.get("extension") else {}
    file = str(wheel.file).replace(theirs, mine)
    folder = wheel.get("url") or folder_of_wheel(file)
    address = {"wheel": file, "wheel_url": f"{folder}{file}"} if folder else {"wheel_file": file}
    return {**address, "optional": None, "paired": None}


@mends("torch-torchvision-mismatch")
def release_that_knows_its_cuda(_said: Symptom = seen("bitsandbytes-has-no-such-cuda")) -> Params:
    """It looks for a library of torch's CUDA, of which this release knows nothing yet."""
    return {**dict.fromkeys(("rebuilt", "again", "alone", "release")), "newer": "bitsandbytes"}


@mends("torch-torchvision-mismatch")
def variable_that_names_another_cuda(said: Symptom = seen("bitsandbytes-told-its-cuda")) -> Params:
    """Without it bitsandbytes takes the library for torch's own CUDA."""
    return {
        **dict.fromkeys(("rebuilt", "again", "alone", "release", "newer")),
        "optional": None,
        "unset": "BNB_CUDA_VERSION",
        "codec": said.id,
    }


@mends("torch-torchvision-mismatch")
def extension_of_intel(
    symptom: Symptom = seen("intels-extension-wants-another-torch"), vision: Package | None = one(name="torchvision")
) -> Params:
    """Each release stands on the torch of its own minor release, up to the last; torch's builds for XPU do without it since it ended."""
    release, _, variant = str(symptom.have).partition("+")
    name = "intel-extension-for-pytorch"
    empty = dict.fromkeys(("release", "torchvision", "index", "alone", "pair", "again"))
    if variant == "xpu":
        return {**empty, "optional": name}
    last, stands_on = newest_on(name)
    mine = f"=={'.'.join(release.split('.')[:2])}.*"
    if not last or version_key(mine.strip("=.*")) <= version_key(stands_on.strip("=.*")):
        return {**empty, "paired": None, "alone": name + mine, "optional": name}
    friends = companions(last)  # it has ended: none stands on a later torch
    pair = f"torch=={last}" + (f", torchvision=={friends.torchvision}" if friends and vision else "")
    return {
        **empty,
        "paired": pair if variant else None,
        "paired_index": index_url(variant),
        "alone": None if variant else pair,
        "optional": name,
    }


@mends("torch-torchvision-mismatch")
def release_that_pip_finds(symptom: Symptom = seen("xformers-built-for-another-torch")) -> Params:
    """Each release of it asks for one torch: with that torch named, pip takes the release that fits."""
    release, _, variant = str(symptom.get("have")).partition("+")
    empty = dict.fromkeys(("rebuilt", "again", "alone", "release"))
    paired = {"paired": f"xformers, torch=={release}", "paired_index": index_url(variant)} if variant else {}
    return {**empty, **paired, "optional": "xformers"}


@mends("torch-torchvision-mismatch")
def the_pair(
    knew: Params,
    torch: Torch,
    vision: Package | None = one(name="torchvision"),
    audio: Package | None = one(name="torchaudio"),
    platform: Platform | None = None,
) -> Params:
    """What belongs to the torch that is there, from the index that it came from."""
    if knew.get("paired") or knew.get("newer") or knew.get("optional") or knew.get("codec"):
        return {}  # what does not fit is no part of torch's family
    release, _, local = str(torch.version).partition("+")
    friends, system = companions(release), plain_system(platform)
    if friends is None or friends.extrapolated:
        return {}
    row = build(torch.version, system=system)
    variant = variant_of_index(local, system) if local else row.variant if row and row.pypi else ""
    pair = {"release": release, "torchvision": friends.torchvision, "torchaudio": friends.torchaudio}
    if variant:
        return {**pair, "index": index_url(variant)}
    wanted = [f"{name}=={pair[name]}" for name, package in (("torchvision", vision), ("torchaudio", audio)) if package]
    return {"alone": ", ".join(wanted) or f"torchvision=={friends.torchvision}"}


@mends("torch-torchvision-mismatch")
def what_does_not_fit(knew: Params, wheel: Symptom | None = seen("wheel-names-its-abi")) -> Params:
    """An extension is compiled again, where its name is one and not a folder's; torchaudio comes along where it is what does not fit."""
    if knew.get("codec"):
        return {}
    extension = str(knew.get("extension") or "")
    same = wheel is not None and str(wheel.extension) == extension
    release = f"=={wheel.release}" if wheel is not None and same else ""  # the same one, for torch's own ABI
    named = f"{extension}{release}" if is_package(extension) else None
    audio = "torchaudio" in (knew.get("companion"), knew.get("name"), knew.get("package")) and not knew.get("alone")
    return {
        "rebuilt": named,
        "audio": (knew.get("torchaudio") or None) if audio else None,
        "pair": None if audio and knew.get("torchaudio") else "pair",
        **(
            dict.fromkeys(("release", "alone", "again"))
            if named or knew.get("mine")
            else {"again": None if knew.get("release") or knew.get("alone") else "torch"}
        ),
    }
