"""`python -m rigup` and the `rigup` command."""

import sys


def main() -> int:
    """Run the command line; `--version` answers before anything heavy is imported."""
    if sys.argv[1:] == ["--version"]:
        from rigup import __version__

        try:
            sys.stdout.write("rigup " + __version__ + "\n")
            sys.stdout.flush()
        except OSError:
            return 2
        return 0
    _import_msgspec()
    from rigup.knowledge import patterns

    patterns.keep()
    from rigup.cli import run

    status = run(sys.argv[1:])
    patterns.save()
    return status


def _be_open() -> None:
    """Where one of our three is closed, put nothing in its place: else the next file would get its number."""
    import os

    for name, way in (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), "r" if name == "stdin" else "w"))


def _take_every_sign() -> None:
    """A name of bytes that are no text, and a sign that the terminal's encoding lacks, are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _import_msgspec() -> None:
    """Import it without typing_extensions, which it asks for first: of that it takes what `typing` has, at the cost of all else that a start imports."""
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # so that to import it fails
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def entry() -> None:
    """Run as a process of its own. It ends at once: a reader that hangs in the kernel must not hold it."""
    import gc
    import os

    _be_open()
    _take_every_sign()
    gc.disable()  # the process is short; collecting would cost more than it frees
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # a reader that went needs no word; a full disk was told where it was met
        status = status or 1
    os._exit(status)


if __name__ == "__main__":
    entry()
