"""`rigup chat --json`: one answer, with what it took; and what can be set of an answer."""

from typing import Literal

from msgspec import Struct


class Used(Struct, frozen=True, kw_only=True):
    """Tokens as the server counts them; None where it does not.

    Attributes:
        prompt: of all that was sent.
        completion: of the answer.
        cached: of the prompt, which it had computed before.

    """

    prompt: int | None
    completion: int | None
    cached: int | None


class Chat(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.chat/1"):
    """What a model answered.

    Attributes:
        verdict: whole; cut where the server ended it for its length; broken-off or stopped where it did not come to its end;
            failed where nothing came.
        because: what went wrong, as a sentence; None for nothing.
        model: as the endpoint names it.
        api: the endpoint.
        answer: its text.
        thought: what the model thought before; "" for nothing.
        finish: the server's own word for how it ended (stop, length …); "" for none.
        usage: tokens.
        context: tokens that the model's context holds; None where the endpoint does not tell.
        first: seconds to the first piece; None without one.
        seconds: in all.
        speed: tokens a second as the server has timed them, else as they came after the first; None where that cannot be told.
        not_sent: parameters that this endpoint does not take.

    """

    verdict: Literal["whole", "cut", "broken-off", "stopped", "failed"]
    because: str | None
    model: str
    api: str
    answer: str
    thought: str
    finish: str
    usage: Used
    context: int | None
    first: float | None
    seconds: float
    speed: float | None
    not_sent: list[str]


class ChatParameter(Struct, frozen=True, kw_only=True):
    """What can be set of an answer.

    Attributes:
        name: as `--set` and `/set` take it.
        range: what is taken, in words.
        usual: what holds where nobody sets it; "" for nothing.
        effect: one sentence.
        names: what each kind of endpoint calls it; one that is not there does not take it.

    """

    name: str
    range: str
    usual: str
    effect: str
    names: dict[str, str]


class ChatParameters(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.chat-parameters/1"):
    """All that can be set of an answer (`--help-parameters --json`).

    Attributes:
        parameters: a row each.

    """

    parameters: list[ChatParameter]
