"""How an engine gives NVIDIA's devices to a container, and what keeps it from it."""

from rigup.container.draft import CDI, HOOK, Draft
from rigup.container.host import Engine, Host, Spec
from rigup.container.serving import refused
from rigup.knowledge.container_images import limit
from rigup.knowledge.cuda import version_key
from rigup.language import _

_BASE_PACKAGE = "base package"
_NEWEST_SCHEMA_OF_ALL = (0, 6)
_PLAIN = ("nvidia-ctk", "cdi", "generate", "--output=/etc/cdi/nvidia.yaml", "--feature-flag=no-additional-gids-for-device-nodes")


def give(draft: Draft) -> None:
    """NVIDIA's devices, in the way that works here; else with the steps that make it work."""
    engine, site = draft.engine, draft.site
    if engine.hpc:
        _to_apptainer(draft)
    elif site.jetpack and not engine.podman:
        _to_jetson(draft)
    elif engine.in_machine:
        _to_machine(draft)
    elif site.wsl:
        _under_wsl(draft)
    else:
        _to_engine(draft, _names(draft))


def reads_cdi(engine: Engine) -> bool:
    """Whether it takes CDI names as devices."""
    if engine.podman:
        return not engine.version or version_key(engine.version) >= limit("podman reads CDI")
    if engine.cdi is not None:
        return engine.cdi
    return engine.name == "docker" and version_key(engine.version) >= limit("docker reads CDI")


def has_hook(engine: Engine, host: Host) -> bool:
    """Whether `--gpus` finds what it needs: NVIDIA's runtime or its hook, and cgroups that they may set up."""
    if engine.podman or (engine.rootless and not engine.no_cgroups):
        return False
    whole = isinstance(host.nvidia_toolkit, str) and _BASE_PACKAGE not in host.nvidia_toolkit
    return "nvidia" in engine.runtimes or engine.default_runtime == "nvidia" or (whole and engine.name != "podman")


def _names(draft: Draft) -> list[str]:
    """What the devices are called to NVIDIA's tools: numbers, or parts of GPUs; none for all of them."""
    named = {instance.uuid or instance.index: instance for instance in draft.host.mig}
    found = []
    for part in draft.asked.parts:
        instance = named.get(part) or next((instance for instance in draft.host.mig if instance.index == part), None)
        if instance is not None or not part.isdigit():
            found.append(instance.uuid if instance and instance.uuid and part == instance.uuid else part)
    found += [str(draft.position(device)) for device in draft.of("nvidia")] if not found and not draft.whole else []
    return found


def _to_apptainer(draft: Draft) -> None:
    why = _("Apptainer binds the driver's libraries and NVIDIA's nodes itself; no toolkit is needed.")
    draft.add("--nv", why=why, source="https://apptainer.org/docs/user/latest/gpu.html")
    names = _names(draft)
    if names:
        why = _("Apptainer hands all GPUs over: which of them the program sees is told by this variable.")
        draft.set("CUDA_VISIBLE_DEVICES", ",".join(names), why, "https://apptainer.org/docs/user/latest/gpu.html")


def _to_jetson(draft: Draft) -> None:
    engine = draft.engine
    why = _("On a Jetson the toolkit hands the device over by its runtime alone; the hook behind --gpus refuses.")
    draft.add("--runtime", "nvidia", why, HOOK)
    draft.set("NVIDIA_VISIBLE_DEVICES", "all", _("The runtime hands over what this variable names."), HOOK)
    if "nvidia" not in engine.runtimes and engine.default_runtime != "nvidia":
        _lacks_toolkit(draft)


def _to_machine(draft: Draft) -> None:
    """Engines in a virtual machine: that of Docker Desktop under WSL has the GPU, all others have none."""
    if draft.site.wsl and draft.engine.flavour == "desktop":
        why = _("Docker Desktop brings its own GPU support for WSL 2: no toolkit is needed.")
        draft.add("--gpus", "all", why, "https://docs.docker.com/desktop/features/gpu/")
        _chosen_inside(draft)
        return
    template = _("{engine} runs its containers in a virtual machine without the GPU; the host's toolkit does not reach it.")
    draft.warn("docker-flavour-without-gpu", template.format(engine=draft.engine.name))
    draft.need("use-native-engine", because=template.format(engine=draft.engine.name))
    if draft.engine.name == "docker":
        draft.before.append(("--context", "default"))
        draft.tell(("--context", "default"), template.format(engine="docker"), "https://docs.docker.com/desktop/setup/install/linux/")
    draft.add("--gpus", "all", _("The engine of the host itself takes the GPUs by this option."), HOOK)


def _under_wsl(draft: Draft) -> None:
    """All GPUs come through one node: the program is told which it may see."""
    _to_engine(draft, [])
    _chosen_inside(draft)


def _chosen_inside(draft: Draft) -> None:
    if not draft.whole or draft.asked.parts:
        numbers = ",".join(str(draft.position(device)) for device in draft.of("nvidia"))
        why = _("Under WSL all GPUs come through /dev/dxg: which of them the program sees is told by this variable.")
        draft.set("CUDA_VISIBLE_DEVICES", numbers, why, "https://docs.nvidia.com/cuda/wsl-user-guide/index.html")


def _to_engine(draft: Draft, names: list[str]) -> None:
    engine, host = draft.engine, draft.host
    spec = next((spec for spec in host.cdi if spec.kind == "nvidia.com/gpu"), None)
    hook, cdi = has_hook(engine, host), spec is not None and reads_cdi(engine)
    trouble = _trouble(draft, spec, names) if spec is not None and cdi else ""
    lasting = draft.asked.detach and engine.cgroup_driver in ("", "systemd") and not engine.rootless
    asks_newer = refused(draft.image, draft.of("nvidia"), draft.site)
    prefers_cdi = engine.podman or not hook or lasting or bool(asks_newer)
    if cdi and (not trouble or not hook or lasting) and (prefers_cdi or not draft.asked.form):
        _by_cdi(draft, names, lasting)
        if trouble:
            _mend_spec(draft, trouble)
        return
    if hook:
        _by_hook(draft, names)
        if asks_newer:
            _too_old(draft, asks_newer)
        return
    _by_cdi(draft, names, False) if engine.podman or (engine.rootless and reads_cdi(engine)) else _by_hook(draft, names)
    if engine.podman and not reads_cdi(engine):
        draft.need("renew-engine", {"engine": "podman", "version": _dotted(limit("podman reads CDI"))})
    _lacks_description(draft) if host.nvidia_toolkit and reads_cdi(engine) else _lacks_toolkit(draft)


def _by_cdi(draft: Draft, names: list[str], lasting: bool) -> None:
    why = _("The engine reads the CDI description of the devices.")
    if lasting:
        why = _("A GPU that NVIDIA's hook gave is lost at the next reload of systemd; one that is given by CDI stays.")
    for name in names or ["all"]:
        draft.add("--device", f"nvidia.com/gpu={name}", why, CDI)


def _by_hook(draft: Draft, names: list[str]) -> None:
    devices = "all" if not names else f"device={names[0]}" if len(names) == 1 else f'"device={",".join(names)}"'
    why = _("NVIDIA's toolkit hands the GPUs over by this option.")
    if len(names) > 1:
        why = _("Docker reads this value as a list: several devices keep quotes of their own within the word.")
    draft.add("--gpus", devices, why, HOOK)


def _trouble(draft: Draft, spec: Spec, names: list[str]) -> str:
    """What is wrong with a description: the cause; "" for nothing."""
    engine = draft.engine
    if (
        version_key(spec.cdi_version)[:2] > _NEWEST_SCHEMA_OF_ALL and engine.name in ("podman", "docker") and engine.version
    ) and version_key(engine.version) < limit(f"{engine.name} reads CDI 0.7"):
        return "cdi-spec-too-new"
    if spec.driver and draft.site.nvidia_driver and spec.driver != draft.site.nvidia_driver:
        return "cdi-spec-stale"
    known = {device.rpartition("=")[2] for device in spec.devices}
    parts = {instance.index for instance in draft.host.mig} | {instance.uuid for instance in draft.host.mig}
    described = {name for name in known if ":" in name or name.startswith("MIG-")}
    if (described - parts) or (draft.host.mig and not described) or (names and not set(names) <= known):
        return "cdi-spec-stale"
    return ""


def _mend_spec(draft: Draft, trouble: str) -> None:
    if trouble == "cdi-spec-too-new":
        because = _("The CDI description is of a schema that {engine} {version} does not read.")
        because = because.format(engine=draft.engine.name, version=draft.engine.version)
        draft.warn(trouble, because)
        draft.need("describe-devices", commands=(_PLAIN,), because=because)
        return
    because = _("The CDI description was written for another driver, or before the parts of a GPU were changed.")
    draft.warn(trouble, because)
    draft.need("describe-devices", because=because)


def _lacks_toolkit(draft: Draft) -> None:
    engine = draft.engine.name
    because = _("{engine} has neither NVIDIA's runtime nor a CDI description here: it cannot hand a GPU over.")
    because = because.format(engine=engine)
    draft.warn("container-toolkit-missing", because)
    from rigup.plan.containers import toolkit_steps
    from rigup.stack.candidate import Change

    name = "containerd" if engine == "nerdctl" else engine
    change = Change(change="container-toolkit", have=None, to=name, why=because)
    draft.steps += toolkit_steps(change, draft.site)


def _lacks_description(draft: Draft) -> None:
    sentence = _("NVIDIA's toolkit is installed, and its description of the devices (CDI) is not written yet.")
    draft.warn("container-toolkit-missing", sentence)
    draft.options = [(n, v) for n, v in draft.options if n != "--gpus"]
    if not any(n == "--device" for n, _v in draft.options):
        _by_cdi(draft, _names(draft) if not draft.site.wsl else [], False)
    draft.need("describe-devices", because=sentence)


def _too_old(draft: Draft, because: str) -> None:
    """The hook refuses the image: a newer driver mends it."""
    draft.warn("container-requires-newer-driver", because)
    for device in draft.of("nvidia"):
        draft.unserved[device.index] = (because, "cuda_driver")
    newer_driver(draft, because)


def newer_driver(draft: Draft, because: str) -> None:
    """The step that makes the driver new enough for the image."""
    from rigup.knowledge.driver_choice import stable_branch

    isas = [device.isa for device in draft.of("nvidia") if device.isa]
    branch = _carrying(draft.image.build.cuda)
    branch = stable_branch(branch, isas) or branch
    draft.need("install-driver", {"vendor": "NVIDIA", "branch": branch}, wsl=draft.site.wsl, because=because)


def _carrying(cuda: str) -> str:
    """The first branch of the driver that shows a CUDA, else the least on which it runs."""
    from rigup.knowledge.cuda import driver_minimum, first_branch_of

    return first_branch_of(cuda) or driver_minimum(cuda) or cuda


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
