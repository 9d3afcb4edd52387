"""Collecting from a machine that has no rigup: scripts that ask what the readers would, and what they print.

`script` gives the text of a script, made from the inputs that the readers declare; `stream` reads what it
printed back into a `Snapshot`; `ssh` runs it on another machine by the person's own OpenSSH.
"""

KINDS = ("posix", "powershell")


def script(kind: str = "posix") -> str:
    """The text of a collecting script: "posix" for any POSIX shell, "powershell" for Windows.

    Raises ValueError for another kind.
    """
    if kind == "posix":
        from rigup.machine.collect import posix

        return posix.script()
    if kind == "powershell":
        from rigup.machine.collect import powershell

        return powershell.script()
    raise ValueError("no collecting script is called " + kind)
