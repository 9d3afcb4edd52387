"""Rules of steps: what fails while an image is built, what leaves with it, and what is left in it for nothing."""

import re
from collections.abc import Iterator

from rigup.container.lint.case import Built, Found, at, has_token, is_one, words
from rigup.container.lint.installs import in_venv, installs, of_system
from rigup.container.lint.of_images import on_system_python
from rigup.container.lint.recipe import Command, Instruction, Stage
from rigup.knowledge.secrets import is_secret
from rigup.schemas.container import Edit

_USES_GPU = re.compile(
    r"assert[^;\n]{0,80}(?:cuda|xpu)\.is_available|\.cuda\(|\.to\([\"'](?:cuda|xpu)|device=[\"'](?:cuda|xpu)|get_device_(?:name|properties|capability)\(|current_device\(|"
    r"cuda\.synchronize\(|assert[^;\n]{0,80}list_physical_devices|(?:if not|exit)[^\n]{0,60}is_available\(\)[^\n]{0,40}(?:exit|raise)"
)
_FORGIVEN = re.compile(r"\|\|\s*(?:true|:|echo|exit 0)")
_SOURCED = re.compile(
    r"(?:\.|source)\s+\S*(?:conda\.sh|bin/activate|bashrc|profile)|shell\.(?:ba|z|posix)?sh?\w*\s+hook|conda shell|mamba shell"
)
_LOGIN = re.compile(
    r"(?:huggingface-cli|hf auth|wandb|docker|gh auth|aws|kaggle|ngc|az|gcloud auth)\b[^\n;&|]{0,60}\b(?:login|configure)\b"
)
_PREDEFINED = {"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY"}
_SERVER_PORT = 1024


def rules(built: Built) -> Iterator[Found]:
    """All of them."""
    for stage, step in built.runs():
        yield from _needs_gpu(step)
        yield from _conda(stage, step)
        if built.shipped(stage):
            yield from _driver(step)
            yield from _lists(step)
    yield from _managed(built)
    yield from _caches(built)
    yield from _lost_arguments(built)
    yield from _secrets(built)
    yield from _start(built)


def _needs_gpu(step: Instruction) -> Iterator[Found]:
    """A build has no GPU, unless the step asks for a device."""
    if step.flag("device") is not None:
        return
    text = step.heredoc or step.value
    programs = words("needs a GPU")
    runs = any(command.name in programs and not {"--help", "--version"} & set(command.words) for command in step.commands)
    uses = any(_USES_GPU.search(command.text) for command in step.commands if command.name.startswith("python")) or bool(
        step.heredoc and _USES_GPU.search(text)
    )
    if (runs or uses) and not _FORGIVEN.search(text):
        yield at(step, "build-stage-needs-gpu", "error")


def _conda(stage: Stage, step: Instruction) -> Iterator[Found]:
    activates = any(command.name in ("conda", "mamba") and command.words[1:2] == ("activate",) for command in step.commands)
    shells = " ".join(instruction.value for instruction in stage.all if instruction.name == "SHELL" and instruction.first < step.first)
    login = re.search(r"conda|mamba|-l\b|-lc|--login|-i\b|-ic", shells)
    if activates and not login and not _SOURCED.search(step.heredoc or step.value):
        yield at(step, "conda-activate-in-run", "error")


def _driver(step: Instruction) -> Iterator[Found]:
    names = [name for name in of_system(step) if is_one("driver package", name)]
    for command in step.commands:
        text = command.text
        dkms = command.name == "amdgpu-install" and "--no-dkms" not in text and (not re.search(r"--usecase", text) or "dkms" in text)
        runs = (
            re.search(r"NVIDIA-Linux-[\w.-]*\.run|cuda_[\w.-]*\.run\b(?=.*--driver)", text)
            and command.name in ("sh", "bash", "NVIDIA-Linux")
        ) or command.name.startswith("NVIDIA-Linux")
        names += [text] * bool(dkms or runs)
    if names:
        yield at(step, "driver-installed-in-image", "error", " ".join(names))


def _lists(step: Instruction) -> Iterator[Found]:
    updates = any(command.name in ("apt-get", "apt") and "update" in command.words for command in step.commands)
    cleans = re.search(r"rm\s+-\w*\s+[^\n;&]*/var/lib/apt/lists|/var/lib/apt/lists/\*", step.value + step.heredoc)
    if updates and not cleans and not _cached(step, "apt"):
        yield at(step, "apt-lists-kept", "note", edit=_more(step, " && rm -rf /var/lib/apt/lists/*"))


def _cached(step: Instruction, *places: str) -> bool:
    return any(flag.startswith("--mount") and "type=cache" in flag and any(place in flag for place in places) for flag in step.flags)


def _more(step: Instruction, text: str) -> Edit | None:
    """A step of one line with more behind it."""
    if step.first != step.last or step.heredoc or step.exec_form is not None:
        return None
    flags = " ".join(step.flags)
    return Edit(line=[step.first, step.last], text=" ".join(filter(None, (step.name, flags, step.value))) + text)


def _managed(built: Built) -> Iterator[Found]:
    """pip refuses the system's Python (PEP 668)."""
    for stage in built.recipe.stages:
        found, base = built.beneath(stage), stage.root
        plain = found.kind.system or not found.kind.vendor
        system = (plain and is_one("externally managed system", base)) or on_system_python(found)
        if not system or any("EXTERNALLY-MANAGED" in step.value for step in stage.all):
            continue
        set_there = [step.assigned for step in stage.all if step.name in ("ENV", "ARG")]
        allowed = any(variables.get("PIP_BREAK_SYSTEM_PACKAGES") not in (None, "", "0") for variables in set_there)
        for install in installs(stage, built.read):
            own = install.tool == "pip" or (install.tool == "uv" and install.has("--system"))
            free = (
                install.has("--break-system-packages", "--target", "-t", "--prefix", "--root")
                or "PIP_BREAK_SYSTEM_PACKAGES" in install.command.variables
            )
            configured = any(
                command.words[:3] == ("pip", "config", "set") for step in stage.all if step.name == "RUN" for command in step.commands
            )
            if own and not free and not allowed and not configured and not in_venv(stage, install.command):
                yield at(install.step, "pip-externally-managed", "error")
                break


def _caches(built: Built) -> Iterator[Found]:
    kept = {name for name, (value, _step) in built.environment.items() if value not in ("", "0", "off")}
    lines: set[int] = set()
    for install in built.installs:
        quiet = install.tool != "pip" or install.has("--no-cache-dir") or "PIP_NO_CACHE_DIR" in kept | install.command.variables.keys()
        if not quiet and not _cached(install.step, "pip", ".cache") and install.step.first not in lines:
            lines.add(install.step.first)
            yield at(install.step, "pip-cache-kept", "note", edit=_without_cache(install.step))


def _without_cache(step: Instruction) -> Edit | None:
    more = _more(step, "")
    if more is None or more.text is None:
        return None
    text = re.sub(r"(\bpip3? install)\b(?! --no-cache-dir)", r"\1 --no-cache-dir", more.text)
    return Edit(line=more.line, text=text)


def _lost_arguments(built: Built) -> Iterator[Found]:
    """ARGs before the first FROM are not there behind it."""
    outside = {name for instruction in built.recipe.arguments if instruction.name == "ARG" for name in instruction.assigned}
    for stage in built.recipe.stages:
        known = {name for step in stage.all if step.name in ("ARG", "ENV") for name in step.assigned}
        for name in sorted(outside - known - _PREDEFINED):
            for step in stage.body:
                local = any(name in command.variables for command in step.commands) if step.name == "RUN" else False
                if re.search(rf"(?<![\\$])\$(?:\{{{name}\b|{name}\b)", step.value + step.heredoc) and not local:
                    finding = at(step, "arg-lost-after-from", "error")
                    yield finding._replace(
                        edit=Edit(line=[stage.start.last, stage.start.last], text=f"FROM {stage.start.value}\nARG {name}")
                        if not stage.start.flags and stage.start.first == stage.start.last
                        else None
                    )
                    break


# -- secrets -------------------------------------------------------------------------------------------


def _secrets(built: Built) -> Iterator[Found]:
    for step in built.steps:
        mounted = any("type=secret" in flag or "type=ssh" in flag for flag in step.flags)
        text = step.value + step.heredoc
        if step.name in ("COPY", "ADD") and step.flag("from") is None:
            files = [
                word for word in (step.exec_form or text.split())[:-1] if is_one("file of a secret", word.rstrip("/").rpartition("/")[2])
            ]
            if files:
                yield at(step, "secrets-in-layer", "error", " ".join(files))
        elif step.name == "ARG":
            yield from _argument(built, step)
        elif step.name == "ENV":
            names = [name for name, value in step.assigned.items() if _holds(name, value)]
            if names:
                yield at(step, "secrets-in-layer", "error", " ".join(names))
        elif has_token(text) or (step.name == "RUN" and not mounted and _logs_in(step.commands)):
            yield at(step, "secrets-in-layer", "error", step.name)


def _holds(name: str, value: str) -> bool:
    """A variable of the image has a secret for its value, written down or taken from an argument."""
    plain = value.strip("\"'")
    return has_token(value) or (is_secret(name) and plain != "" and not plain.startswith("/run/secrets"))


def _argument(built: Built, step: Instruction) -> Iterator[Found]:
    """An argument that takes a secret and is used: it stands in the image's history."""
    for name, default in step.assigned.items():
        if not is_secret(name):
            continue
        used = [
            instruction
            for instruction in built.steps
            if instruction.first > step.last and re.search(rf"\$(?:\{{{name}\b|{name}\b)", instruction.value + instruction.heredoc)
        ]
        if used or default:
            yield Found("secrets-in-layer", "error", step.first, max(step.last, used[0].last if used else 0), f"ARG {name}")


def _logs_in(commands: tuple[Command, ...]) -> bool:
    """A login whose token is given to it: by a word, a variable or what is piped into it."""
    return any(_LOGIN.search(command.text) and re.search(r"\$|--?(?:token|password|p)\b[= ]\S", command.text) for command in commands)


# -- how it starts -------------------------------------------------------------------------------------


def _start(built: Built) -> Iterator[Found]:
    text, step = built.start
    if built.recipe.definition or step is None or not _serves(built, text):
        return
    for other in built.steps:
        if other.name in ("ENTRYPOINT", "CMD") and other.exec_form is None and not other.value.startswith("exec "):
            yield at(other, "entrypoint-shell-form", "note")
    if not any(other.name == "HEALTHCHECK" for other in built.steps):
        yield at(step, "healthcheck-missing", "note")


def _serves(built: Built, text: str) -> bool:
    names = {word.rpartition("/")[2] for word in re.findall(r"[\w./-]+", text)}
    ports = any(instruction.name == "EXPOSE" for instruction in built.steps)
    return ports or bool(names & set(words("server")))
