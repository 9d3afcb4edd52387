"""`python -m rigup` and the `rigup` command."""

import sys


def main() -> int:
    """Run the command line; `--version` answers before anything heavy is imported."""
    if sys.argv[1:] == ["--version"]:
        from rigup import __version__

        sys.stdout.write("rigup " + __version__ + "\n")
        return 0
    from rigup.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
