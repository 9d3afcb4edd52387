"""AMD's module, nodes and containers as people tell of them, devices beside one another, and chips that ROCm has left."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.amd_told import OURS, ROCM, SERVERS, SET_, SPOKEN_OF, UNUSED, program_of
from rigup.diagnosis.rules.rocm import ANOTHERS, MASKS, OVERRIDE, left, wheels_have
from rigup.knowledge import wsl
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import pythons
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    Gpu,
    KernelModule,
    Platform,
    PythonEnv,
    Symptom,
    Torch,
    Variable,
    World,
)

_NONE = ("hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", "hsa-out-of-resources")
_ROOT = ("works-with-sudo", "works-as-root", "root-needed-told")
_BY_HAND = ("works-in-a-shell-told", "works-in-a-terminal-told", "works-by-hand-told")
_BLAS = (
    "rocblas-without-arch",
    "rocblas-no-library-for-chip",
    "ollama-gfx-refused",
    "ollama-gfx-refused-early",
    "ollama-device-dropped",
)
_PLAIN = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")
_BOXES = ("compose-file-named", "docker-in-words", "container-in-words", "speaks-of-a-container", "in-a-container-told")
_NO_CODE = ("hip-invalid-device-function", "hip-no-binary", "hip-no-kernel-image", "hip-kernel-image-invalid")


# -- the module
@rule("kernel-module-not-built", "likely")
def dkms_did_not_compile(
    said: Symptom = seen("dkms-did-not-compile-told"), _rocm: Symptom = seen(*OURS), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A person says so of ROCm's driver."""
    return loaded is None and other is None and {"said": said.id}


@rule("amdgpu-not-loaded", "possible")
def compute_driver_is_told_as_absent(
    said: Symptom = seen("amdkfd-not-loaded-told"), loaded: KernelModule | None = one(name="amdgpu", loaded=True)
) -> Verdict:
    """Since long the compute driver is a part of amdgpu."""
    return loaded is None and {"said": said.id}


# -- rights
@rule("render-group-missing", "likely")
def root_may_and_a_person_may_not(
    root: Symptom = seen(*_ROOT), _named: Symptom = seen("hip-error-in-quotes", "kfd-named", *ROCM), world: World | None = None, platform: Platform | None = None,
    other: Gpu | None = one(vendor="nvidia"), override: Variable | None = one(name=OVERRIDE), boxed: Symptom | None = seen(*SPOKEN_OF),
) -> Verdict:  # fmt: skip
    """What fails for a person and not for root fails for want of a right; or of the variables that a service of root's has."""
    if override is not None or boxed is not None:
        return False
    elsewhere = root.place.world or bool(world and world.get("container")) or bool(platform and platform.get("wsl"))
    return not elsewhere and other is None and {"said": root.id}


@rule("render-group-missing", "likely")
def rocminfo_answers_root_alone(
    error: Symptom = seen("hsa-out-of-resources", "hsa-call-failed-by-number", "kfd-permission-denied"), root: Symptom = seen("rocminfo-with-sudo-answers"),
    boxed: Symptom | None = seen(*SPOKEN_OF),
) -> Verdict:  # fmt: skip
    """The same program, shown as it fails and as it answers to root."""
    outside = not error.place.world.startswith("container")
    return outside and boxed is None and {"said": error.id, "works": root.id}


@rule("render-group-missing", "likely")
def groups_are_listed_without_those_of_the_nodes(
    error: Symptom = seen("hsa-call-failed-by-number", "hsa-out-of-resources", "hip-no-device"), who: Account = one(at="shell"),
    node: DeviceNode | None = one(path="/dev/kfd"), boxed: Symptom | None = seen(*SPOKEN_OF), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """Whose the nodes are nobody shows; distributions give them to one of two groups, and this account is in neither."""
    own = who.get("uid") == 0 or {"root", "video", "render"} & set(who.groups)
    elsewhere = boxed is not None or bool(platform and platform.get("wsl"))
    return node is None and not own and not elsewhere and {"said": error.id}


@rule("render-group-missing", "likely")
def one_account_may_and_another_may_not(
    works: Symptom = seen("works-for-another-account-told"), _ours: Symptom = seen("kfd-named", *OURS), other: Gpu | None = one(vendor="nvidia"),
    boxed: Symptom | None = seen(*SPOKEN_OF), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """The same program on the same machine: what accounts differ in are their groups."""
    return other is None and boxed is None and override is None and {"said": works.id}


# -- services
@rule("override-not-in-service", "likely")
def works_where_a_shell_has_it(
    works: Symptom = seen(*_BY_HAND), _service: Symptom = seen("systemd-named", "service-unit-named"), _set: Symptom = seen("override-value-told", *SET_),
    _error: Symptom = seen(*UNUSED, *_NO_CODE, *_BLAS, "ggml-no-function"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A person has the override, started by hand it computes, and as a service it does not."""
    return not (card is not None and left(card.get("isa") or "")) and {
        "name": OVERRIDE,
        "service": "ollama",
        "said": works.id,
    }


# -- containers
@rule("container-render-group-mismatch", "likely")
def root_may_inside_and_another_may_not(
    root: Symptom = seen("user-root-helps-told", *_ROOT), _boxed: Symptom = seen(*_BOXES), _ours: Symptom = seen("kfd-named", *OURS),
    other: Gpu | None = one(vendor="nvidia"), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """What fails for a container's own user and not for its root fails for want of a right."""
    return other is None and override is None and {"said": root.id}


@rule("container-render-group-mismatch", "likely")
def user_of_the_image_has_no_group(
    _run: Symptom = seen("kfd-given-without-groups"), user: Symptom = seen("image-user-not-root", "unprivileged-container-told"), _torch: Torch = one(available=False),
) -> Verdict:  # fmt: skip
    """The nodes were handed in, no group that may open them was, and the image runs as a plain user."""
    return {"said": user.id}


@rule("container-without-gpu", "possible")
def node_is_missing_inside_as_people_say(
    said: Symptom = seen("kfd-missing-told"), boxed: Symptom = seen(*_BOXES),
) -> Verdict:  # fmt: skip
    """A person misses the node, and speaks of a container."""
    return {"said": said.id, "where": boxed.id, "vendor": "amd"}


@rule("container-render-group-mismatch", "likely")
def podman_drops_the_groups(
    error: Symptom = seen(*_NONE), run: Symptom = seen("podman-without-own-groups"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
) -> Verdict:  # fmt: skip
    """A container of a person's own has other group numbers than the host, unless it keeps them."""
    return absent is None and {"said": error.id, "where": run.id}


@rule("container-render-group-mismatch", "possible")
def runtime_fails_in_a_container(
    error: Symptom = seen("hsa-out-of-resources"), boxed: Symptom = seen("in-a-container-told"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
    root: Symptom | None = seen(*_ROOT), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A person is in a container, and the runtime may not open what is there."""
    guest = bool(platform and platform.get("wsl"))
    return absent is None and root is None and not guest and {"said": error.id, "where": boxed.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_in_wsl(
    _platform: Platform = one(wsl=2), torch: Torch = one(available=False), card: Gpu = one(vendor="amd"), said: Symptom = seen("torch-no-cuda-gpus"),
    refused: Symptom | None = seen("hsa-out-of-resources", "wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """A card that WSL has, and a torch for ROCm that was not made for WSL."""
    plain = bool(torch.get("hip")) and not wsl.runtime_knows_wsl(torch.get("hip") or "")
    return refused is None and plain and not wsl.chip_without_wsl(card.isa) and {"said": said.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def rocminfo_is_told_to_work_in_wsl(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-detected"), _works: Symptom = seen("rocminfo-works-told"), said: Symptom = seen(*_NONE[:3]),
    card: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A person says that the system's runtime lists the card, and HIP in the program finds none."""
    there = bool(torch and torch.get("available"))
    old = card is not None and wsl.chip_without_wsl(card.get("isa") or "")
    made_for_it = torch is not None and wsl.runtime_knows_wsl(torch.get("hip") or "")
    return not (there or old or made_for_it) and {"said": said.id}


# -- two devices
@rule("igpu-visible-beside-dgpu", "likely")
def torch_computes_on_the_processors_graphics(
    said: Symptom = seen("torch-names-integrated-graphics"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """Its first device are the processor's graphics, and a card is there."""
    return mask is None and card.get("vendor") == "amd" and {"device": 0, "said": said.id, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def the_one_without_a_model_fails(
    error: Symptom = seen("ggml-device-failed"), plain: Gpu = one(vendor="amd", name=_PLAIN), card: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """Beside a card that is listed by its model, graphics without one are the processor's."""
    index = plain.get("runtime_index")
    listed = index is not None and card.get("runtime_index") not in (None, index)
    return listed and str(error.get("index")) == str(index) and {"device": card.runtime_index, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "possible")
def program_crashes_beside_a_processors_graphics(
    error: Symptom = seen("crash-told", "crashes-told", "segmentation-fault"), graphics: Symptom = seen("igpu-named", "small-chip-named"),
    _program: Symptom = seen(*SERVERS), card: Gpu = one(vendor="amd", integrated=False), other: Gpu | None = one(vendor="nvidia"),
    works: Symptom | None = seen("works-told", "ggml-vulkan-named"), mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """A server takes every device that HIP lists; a person names both, and it ends."""
    ours = other is None and card.get("vendor") == "amd"
    return ours and works is None and mask is None and {"device": 0, "said": error.id, "named": graphics.id}


# -- wheels
@rule("python-version-without-wheels", "possible")
def amds_index_has_none_for_the_newest_python(
    _said: Symptom = seen("pip-no-version", name="torch", offered="none"), index: Symptom = seen("pip-single-index"), python: PythonEnv = one(),
) -> Verdict:  # fmt: skip
    """Indexes of AMD's own begin with new Pythons later than PyPI does; it answered, and has nothing for this one."""
    known = [version_key(one_)[:2] for one_ in pythons("torch")]
    newest = bool(known) and version_key(python.version)[:2] in sorted(known)[-2:]
    return newest and ".amd.com" in str(index.get("index")) and {"name": "torch", "have": python.version}


# -- chips
@rule("binary-arch-missing", "likely")
def program_was_built_for_others(
    error: Symptom = seen(*_NO_CODE, "hip-invalid-device-function-constant"), program: Symptom = seen("hip-program-named", "hip-program-tells-no-function", "image-for-instinct-named"), card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A program of its own, or an image that names the cards for which it is."""
    return not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(program)}


@rule("binary-arch-missing", "likely")
def another_framework_has_no_code(
    error: Symptom = seen(*_NO_CODE, "hip-invalid-device-function-constant"), shown: Symptom = seen(*ANOTHERS), card: Gpu | None = one(vendor="amd"),
    torch: Torch | None = None, named: Symptom | None = seen("torch-named"),
) -> Verdict:  # fmt: skip
    """HIP's own words, in a text that shows another framework than torch at work."""
    alone = named is None and (torch is None or not torch.knows("version"))
    return alone and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(shown)}


@rule("binary-arch-missing", "possible")
def torch_has_the_card_and_something_lacks_it(
    error: Symptom = seen(*_NO_CODE), card: Gpu = one(vendor="amd"), _named: Symptom = seen("torch-named", "torch-program-named"),
    override: Variable | None = one(name=OVERRIDE), torch: Torch | None = None, other: Gpu | None = one(vendor="nvidia"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Every wheel of ROCm has code for the chip: what lacks it was compiled apart."""
    clear = works is None and other is None and not (override and override.get("value"))
    return clear and wheels_have(card.isa, torch) and {"said": error.id, "gfx": card.isa}


@rule("binary-arch-missing", "possible")
def target_is_left_out(said: Symptom = seen("target-left-out-told"), torch: Torch | None = None) -> Verdict:
    """A person says which target a program's build is without."""
    return not (torch and torch.knows("version")) and {"said": said.id}


@rule("rocm-dropped-arch", "likely")
def old_card_and_nothing_helps(
    card: Gpu = one(vendor="amd"), _told: Symptom = seen("trouble-told", "fix-did-not-help-told"), _rocm: Symptom = seen(*ROCM), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person has tried what there is, with a chip that ROCm has left."""
    return works is None and left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "possible")
def old_card_is_not_listed(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("polaris-told-as-left"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """The same where somebody says that the chip was left."""
    return works is None and left(card.isa) and {"gfx": card.isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def old_card_is_hidden_by_hip(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("rocblas-no-devices", "hip-no-device", "hip-init-failed")
) -> Verdict:
    """HIP does not list chips before Vega."""
    return left(card.isa) and {"gfx": card.isa, "said": said.id}
