"""`rigup serve --json`: where the models are served, and by what."""

from msgspec import Struct


class ServedModel(Struct, frozen=True, kw_only=True):
    """A model.

    Attributes:
        name: by which clients ask for it.
        loaded: its engine runs; others are loaded when they are asked for.
        engine: what runs it; None before it is loaded.
        why: why that engine; None before it is loaded.
        context: tokens of each of its sequences; None where the engine sets that itself, or before it is loaded.
        gpu_used: weights lie on a GPU; None where nobody knows.
        notes: what is not as it should be, in sentences.

    """

    name: str
    loaded: bool
    engine: str | None
    why: str | None
    context: int | None
    gpu_used: bool | None
    notes: list[str]


class Serve(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.serve/1"):
    """Printed once, when clients may come.

    Attributes:
        base_url: for a client of OpenAI's interface.
        key: what was made for this run; None where it came from a file or a variable, or none is wanted.
        pid: of the server.
        models: that are served.

    """

    base_url: str
    key: str | None
    pid: int
    models: list[ServedModel]
