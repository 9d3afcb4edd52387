"""What a person reads where no engine runs a model."""


class EngineError(Exception):
    """No engine, or one that did not start: what is wrong and what to do next, as sentences.

    Attributes:
        kind: an id of `engine_failures.toml`, "no-engine", "ended" or "too-slow".
        log: what the engine said last; "" where none was started.

    """

    def __init__(self, text: str, kind: str = "no-engine", log: str = "") -> None:
        super().__init__(text)
        self.kind, self.log = kind, log
