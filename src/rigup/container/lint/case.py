"""A file that is judged: what it says, what lies beside it, the machine that it is for, and what was found so far."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from rigup.container.images import Image, image
from rigup.container.lint.installs import Install, installs
from rigup.container.lint.recipe import Instruction, Recipe, Stage
from rigup.knowledge import tables
from rigup.knowledge.secrets import tokens
from rigup.schemas.container import Edit
from rigup.schemas.shared import Severity
from rigup.stack.site import Site

_OF_CPU = re.compile(r"--(?:device|accelerator|platform)[= ]?cpu\b|--cpu\b|--no-cuda\b|device=[\"']?cpu", re.IGNORECASE)
_OF_GPU = re.compile(
    r"--(?:device|accelerator)[= ]?(?:cuda|gpu|rocm|hip|xpu)\b|\bcuda(?::\d)?\b(?=[\"')\]]|$)|nvidia-smi|rocminfo|rocm-smi|--gpus?\b|--n-gpu-layers|-ngl\b|torch\.cuda\b",
    re.IGNORECASE,
)


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    words: list[str]


class Found(NamedTuple):
    """A finding: its rule, how bad it is, where, what stands there, and the change that mends it."""

    cause: str
    severity: Severity
    first: int
    last: int
    evidence: str
    edit: Edit | None = None
    source: str = ""


def words(about: str) -> list[str]:
    """A list of the table `container_files`. Raises KnowledgeError for a malformed table."""
    return next(row.words for row in tables.rows("container_files", "words", _Words) if row.about == about)


def is_one(about: str, word: str) -> bool:
    """Whether a word is of a list, as a whole."""
    return _pattern(about).fullmatch(word) is not None


@tables.remembered
def _pattern(about: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{word})" for word in words(about)))


def of_gpu(text: str) -> bool:
    """A command that asks for a GPU."""
    return bool(_OF_GPU.search(text)) and not of_cpu(text)


def of_cpu(text: str) -> bool:
    """A command that says that it runs on the processor."""
    return _OF_CPU.search(text) is not None


def has_token(text: str) -> bool:
    """Whether a token stands in a text, by its form."""
    return any(any(literal in text for literal in row.literals) and re.search(row.regex, text) for row in tokens())


class Built(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """An image that a recipe makes: its stage, and what is known of the image beneath.

    Attributes:
        read: the text of a file beside; "" for none.
        site: the machine; None where rules of machines are silent.
        asks_gpu: a service that is built from it asks for a GPU.

    """

    recipe: Recipe
    stage: Stage
    read: Callable[[str], str]
    site: Site | None = None
    asks_gpu: bool = False

    @property
    def machine(self) -> str:
        """Of the processor."""
        return self.site.machine if self.site else "x86_64"

    @cached_property
    def base(self) -> Image:
        """The image beneath all stages of the target."""
        return image(self.stage.root or "scratch", self.machine)

    def beneath(self, stage: Stage) -> Image:
        """The image beneath a stage."""
        return self.base if stage is self.stage else image(stage.root or "scratch", self.machine)

    @property
    def steps(self) -> tuple[Instruction, ...]:
        """The steps of the image that comes out."""
        return self.stage.all

    @cached_property
    def installs(self) -> list[Install]:
        """Calls of installers in the image that comes out."""
        return [install for stage in self.stage.chain for install in installs(stage, self.read)]

    @cached_property
    def environment(self) -> dict[str, tuple[str, Instruction]]:
        """Variables of the image that comes out, each with the step that set it last."""
        return {
            name: (value, step) for step in self.steps if step.name == "ENV" and not step.flags for name, value in step.assigned.items()
        }

    @cached_property
    def start(self) -> tuple[str, Instruction | None]:
        """What is run in it, with the step that says so."""
        found = [step for step in self.steps if step.name in ("ENTRYPOINT", "CMD", "RUNSCRIPT")]
        text = " ".join(" ".join(step.exec_form) if step.exec_form is not None else step.value for step in found)
        return text, found[-1] if found else None

    @cached_property
    def wants_gpu(self) -> bool:
        """Something in it, or around it, says that it is to have a GPU."""
        visible = self.environment.get("NVIDIA_VISIBLE_DEVICES", ("", None))[0]
        asks = visible not in ("", "void", "none") or "NVIDIA_DRIVER_CAPABILITIES" in self.environment
        return (self.asks_gpu or asks or of_gpu(self.start[0])) and not of_cpu(self.start[0])

    @cached_property
    def user(self) -> str:
        """Who runs in it; "" for root."""
        users = [step.value.split(":")[0].strip() for step in self.steps if step.name == "USER"]
        user = users[-1] if users else self.base.kind.user
        return "" if user in ("root", "0") else user

    def runs(self) -> Iterator[tuple[Stage, Instruction]]:
        """The steps that run something, of all stages."""
        for stage in self.recipe.stages:
            for step in stage.body:
                if step.name == "RUN":
                    yield stage, step

    def shipped(self, stage: Stage) -> bool:
        """A stage becomes part of the image."""
        return any(other is stage for other in self.stage.chain)


def at(step: Instruction, cause: str, severity: Severity, evidence: str = "", edit: Edit | None = None, source: str = "") -> Found:
    """A finding on the lines of a step."""
    text = evidence or f"{step.name} {step.value}".strip()
    return Found(cause, severity, step.first, step.last, text[:300], edit, source)
