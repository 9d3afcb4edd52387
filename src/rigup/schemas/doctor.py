"""`rigup doctor --json`: what a machine is, and what is wrong with it."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rigup.schemas.machine import Machine
from rigup.schemas.nodes import Deep, NodeGroup, NodeNotAsked, SharedLinks
from rigup.schemas.shared import Argv, Difference, Finding, Skipped

Verdict = Literal["healthy", "degraded", "broken", "unknown"]


class FailedVerification(Struct, frozen=True, kw_only=True):
    """What `rigup verify` found wrong here, and has not found right since.

    Attributes:
        environment: its folder.
        device: its name or address; "" where the failure is of the environment.
        framework: which one failed.
        build: its version.
        failed: the checks that were not passed.
        date: of that verification, as YYYY-MM-DD.
        asked: whether it is of what the doctor was asked about.
        next: the command that verifies it anew.

    """

    environment: str
    device: str
    framework: str
    build: str
    failed: str
    date: str
    asked: bool
    next: str


class Unanswered(Struct, frozen=True, kw_only=True):
    """A program that did not answer.

    Attributes:
        command: as a person would type it.
        how: in which way it did not answer.
        seconds: that it had, of one that hung.
        signal: the number of the signal that ended it, of one that crashed.
        status: its exit status, of the others.
        said: its first words, or why it could not be started.
        because: all that as a sentence.

    """

    command: str
    how: Literal["hung", "crashed", "failed", "silent", "garbage", "not-started"]
    seconds: float | UnsetType = UNSET
    signal: float | UnsetType = UNSET
    status: float | UnsetType = UNSET
    said: str
    because: str


class AnsweredQuestion(Struct, frozen=True, kw_only=True):
    """A question of a pasted text that is asked again and again of machines that are in order.

    Attributes:
        id: of the question.
        asked: the sentence that asks it, or says what somebody believes; empty where an output alone shows what is worth knowing.
        answer: what an expert says.
        commands: that go with it, as they are typed in a shell.
        outright: somebody asks it as a question.

    """

    id: str
    asked: str
    answer: str
    commands: list[str]
    outright: bool = True


class HarmlessMessage(Struct, frozen=True, kw_only=True):
    """A message that is known to be without consequence, or that shows something at work.

    Attributes:
        symptom: its id.
        program: whose message it is, by name.
        said: its words, as they stand there.
        meaning: what it means, as a sentence.
        works: it shows that something computes, or is reached.

    """

    symptom: str
    program: str = ""
    said: str
    meaning: str
    works: bool = False


class Rank(Struct, frozen=True, kw_only=True):
    """The process of a distributed program that failed of itself.

    Attributes:
        rank: its number.
        said: its last word.

    """

    rank: int
    said: str


class Program(Struct, frozen=True, kw_only=True):
    """How the program of `rigup doctor -- PROGRAM` ended.

    Attributes:
        argv: the program with its arguments.
        signal: the number of the signal that ended it; else left out.
        status: its exit status; left out where a signal ended it.
        interpreter: the Python that ran; None where none was seen.
        environment: the environment that was active; None for none.
        rank: the one that failed first; None where there are no ranks, or nobody can tell.

    """

    argv: Argv
    signal: int | UnsetType = UNSET
    status: int | UnsetType = UNSET
    interpreter: str | None
    environment: str | None
    rank: Rank | None


class SinceOk(Struct, frozen=True, kw_only=True):
    """What has changed since all was well; `--since-ok` asks for it.

    Attributes:
        recorded_at: when the healthy state was recorded that it is compared with, ISO 8601 in UTC; None without a record.
        environment: the environment that was active then; None for none.
        differences: the likeliest suspects first.
        unchanged_since: when a newer healthy state was recorded that does not differ at all.

    """

    recorded_at: str | None
    environment: str | None
    differences: list[Difference]
    unchanged_since: str | UnsetType = UNSET


class Doctor(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.doctor/1"):
    """What a machine is, and what is wrong with it.

    Attributes:
        verdict: healthy has no finding of severity error or warning, and something was seen to work or all that worries is known to be harmless; unknown: nothing was found, and too little was seen.
        machine: the facts.
        failed_verifications: what `rigup verify` found wrong and has not found right since.
        findings: root causes first.
        skipped: what could not be judged.
        unexplained: ids of symptoms that no finding accounts for.
        unexplained_said: the lines that they stand in.
        answers: to questions that a text asks, where nothing is wrong.
        harmless: messages that worry people and are without consequence, where nothing is wrong beside them.
        near: ids of causes that a text is nearest to by its words alone.
        troubles: what could not be read, and why, as sentences.
        unanswered: programs that did not answer.
        program: how it ended, where one was run.
        since_ok: what has changed since all was well, where that was asked for.
        groups: of a cluster alone: its nodes by what is to be said of them, the largest group first; then `place` of a finding is its node.
        not_asked: of a cluster alone: nodes that gave no answer, by why.
        links: of a cluster alone: by what nodes that should be alike reach each other.
        deep: of a cluster alone: devices verified, disks and links measured, where that was asked for.

    """

    verdict: Verdict
    machine: Machine
    failed_verifications: list[FailedVerification]
    findings: list[Finding]
    skipped: list[Skipped]
    unexplained: list[str]
    unexplained_said: list[str]
    answers: list[AnsweredQuestion] = []
    harmless: list[HarmlessMessage] = []
    near: list[str]
    troubles: list[str]
    unanswered: list[Unanswered]
    program: Program | UnsetType = UNSET
    since_ok: SinceOk | UnsetType = UNSET
    groups: list[NodeGroup] | UnsetType = UNSET
    not_asked: list[NodeNotAsked] | UnsetType = UNSET
    links: list[SharedLinks] | UnsetType = UNSET
    deep: Deep | UnsetType = UNSET


class NotAsked(Struct, frozen=True, kw_only=True):
    """Why a host could not be asked.

    Attributes:
        error: a word for programs.
        because: what happened, as a sentence.
        next: what to do, as a sentence.
        said: ssh's own words.

    """

    error: str
    because: str
    next: str
    said: str


# msgspec tells types of a union apart by their tags, and what could not be asked has no schema of its own.
Asked = Annotated[Any, Meta(extra_json_schema={"anyOf": [{"$ref": "#/$defs/Doctor"}, {"$ref": "#/$defs/NotAsked"}]})]


class Hosts(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.doctor.hosts/1"):
    """The doctor's answers for several hosts; of one host that answered its own is printed.

    Attributes:
        hosts: by the name that was given: the doctor's answer, or why there is none.

    """

    hosts: dict[str, Asked]
