"""What the room raises."""


class LabError(Exception):
    """Jupyter that was not started, or could not be reached; the text says what, where, and what to do next.

    Attributes:
        log: what Jupyter, ssh or Slurm said.

    """

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


class LacksPackages(LabError):
    """Packages that an environment elsewhere lacks.

    Attributes:
        lacking: their names.
        argv: the command that installs them there, started here.

    """

    def __init__(self, text: str, lacking: tuple[str, ...], argv: tuple[str, ...]) -> None:
        super().__init__(text)
        self.lacking, self.argv = lacking, argv


class ServerGone(LabError):
    """A server on another machine that ended while nobody held on to it: connecting again is in vain."""
