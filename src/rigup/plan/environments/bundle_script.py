"""The script of a bundle: any POSIX shell makes the environment by it, with a Python and no network."""

import shlex

from rigup.plan.environments.lockfile import Lock

# What varies stands in quoted assignments at the top; the rest is the same in every bundle.
_SCRIPT = """\
#!/bin/sh
# Makes an environment of this bundle, without a network: sh install.sh [FOLDER [PYTHON]]
set -eu
wanted={python}
environment=${{1:-.venv}}
python=${{2:-python$wanted}}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

if ! command -v "$python" > /dev/null 2>&1; then
    printf '%s\\n' "Python $wanted is not here. Name one: sh install.sh FOLDER PYTHON" >&2
    exit 1
fi
have=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ -n "$wanted" ] && [ "$have" != "$wanted" ]; then
    printf '%s\\n' "The bundle was made for Python $wanted; $python is $have." >&2
    exit 1
fi
if [ -e "$environment" ]; then
    printf '%s\\n' "$environment is there already. Name another folder." >&2
    exit 1
fi
"$python" -m venv "$environment"
"$environment/bin/python" -m pip install --disable-pip-version-check --no-index --find-links "$here/wheels" \\
    --require-hashes --no-deps --only-binary :all: -r "$here/requirements.txt"
{variables}printf '%s\\n' "Done. Use it by: . $environment/bin/activate"
"""


def install_script(lock: Lock) -> str:
    """The script of a lock; the environment's variables are set by its activation script."""
    python = lock.python.rstrip("t")
    return _SCRIPT.format(python=shlex.quote(python), variables="".join(map(_setting, sorted(lock.variables.items()))))


def _setting(variable: tuple[str, str]) -> str:
    line = f"export {variable[0]}={shlex.quote(variable[1])}"
    return f"printf '%s\\n' {shlex.quote(line)} >> \"$environment/bin/activate\"\n"
