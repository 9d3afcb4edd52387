"""Run in a container, by the container's own Python: Jupyter Lab, or the installation of what it lacks. It imports nothing of rigup.

It lies in the folder of one run, beside what is asked (`asked.json`) and the token. `serve` starts Jupyter by the first Python that has
all that is wanted: the image's, else the one of an environment that lies in a folder of the host and sees the image's packages.
It ends with its standard input, which whoever started the container holds open, and with SIGTERM. `install` makes that environment.
"""

import importlib.util
import json
import os
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
from importlib import metadata
from typing import Any

_PATIENCE = 10.0
_LACKS = 64  # exit status
_MARK = "rigup-lacks "
# No module of the folder of the notebooks comes before those of Python.
_START = "import sys; sys.path[:] = filter(None, sys.path); from jupyterlab.labapp import main; sys.exit(main())"


def _lacking(names: "list[str]") -> "list[str]":
    found = []
    for name in names:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            found.append(name)
    return found


def _of(python: str, names: "list[str]") -> "list[str]":
    """What another Python lacks; all of it where it does not start."""
    try:
        words = [python, __file__, "lacking", *names]
        return list(map(str, json.loads(subprocess.check_output(words, timeout=120, stderr=subprocess.DEVNULL))))
    except (OSError, ValueError, subprocess.SubprocessError):
        return names


def _own_python(asked: "dict[str, Any]") -> str:
    return os.path.join(asked["packages"], "bin", "python")


def _serve(asked: "dict[str, Any]") -> int:
    python, lacking = sys.executable, _lacking(asked["wanted"])
    if lacking and os.path.exists(_own_python(asked)):
        python = _own_python(asked)
        lacking = _of(python, asked["wanted"])
    if lacking:
        has_pip = importlib.util.find_spec("pip") is not None or importlib.util.find_spec("ensurepip") is not None
        answer = {"lacking": lacking, "python": sys.executable, "can": has_pip}
        sys.stderr.write(_MARK + json.dumps(answer) + "\n")
        return _LACKS
    settings = {
        "ip": asked["ip"],
        "port": asked["port"],
        "port_retries": 0,
        "open_browser": False,
        "root_dir": asked["folder"],
        "base_url": "/",
        "allow_remote_access": False,
    }
    words = [python, "-c", _START]
    words += ["--ServerApp.{}={}".format(*setting) for setting in settings.items()]
    words += ["--ServerApp.allow_root=True"] if os.geteuid() == 0 else []
    server = subprocess.Popen(words, env=_variables(), stdin=subprocess.DEVNULL, stdout=sys.stderr, cwd=asked["folder"])

    def end(*_signal: object) -> None:
        threading.Thread(target=_end, args=(server,), daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    threading.Thread(target=_ends_with_input, args=(end,), daemon=True).start()
    while True:  # as the first process it inherits those whose parents are gone
        pid, status = os.wait()
        if pid == server.pid:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _variables() -> "dict[str, str]":
    here = os.path.dirname(os.path.abspath(__file__))
    variables = dict(os.environ)
    variables.pop("JUPYTER_TOKEN", None)
    variables["JUPYTER_TOKEN_FILE"] = os.path.join(here, "token")
    former = variables.get("JUPYTER_PATH")
    variables["JUPYTER_PATH"] = here + (os.pathsep + former if former else "")
    if os.path.exists(os.path.join(here, "pip.conf")):
        variables["PIP_CONFIG_FILE"] = os.path.join(here, "pip.conf")
    variables["JUPYTER_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="jupyter-")
    home = os.path.expanduser("~")
    if not os.path.isdir(home) or not os.access(home, os.W_OK) or os.path.samefile(home, "/"):
        variables["HOME"] = tempfile.mkdtemp(prefix="home-")
    return variables


def _ends_with_input(end: Any) -> None:
    while os.read(0, 4096):
        pass
    end()


def _end(server: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(server.pid, number)
        except OSError:
            return
        time.sleep(_PATIENCE)


# -- what is lacking ---------------------------------------------------------------------------------------


def _install(asked: "dict[str, Any]") -> int:
    """An environment beside the image, which sees the image's packages; pip is the image's where the environment gets none."""
    folder, python = asked["packages"], _own_python(asked)
    if not os.path.exists(python) or subprocess.call([python, "-c", ""]):
        words = [sys.executable, "-m", "venv", "--system-site-packages", "--clear"]
        if importlib.util.find_spec("ensurepip") is None or subprocess.call([*words, folder], stderr=subprocess.DEVNULL):
            status = subprocess.call([*words, "--without-pip", folder])
            if status:
                return status
        _see_the_image(python)
    own = subprocess.call([python, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    pip = [python, "-m", "pip"] if own else [sys.executable, "-m", "pip", "--python", python]
    return subprocess.call([*pip, "install", "--disable-pip-version-check", *asked["wanted"]], env=_variables())


def _see_the_image(python: str) -> None:
    """Where the image's Python is of an environment itself, its packages are not those of the system: they are named."""
    if sys.prefix == sys.base_prefix:
        return
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = subprocess.check_output([python, "-c", code], text=True).strip()
    with open(os.path.join(place, "rigup-image.pth"), "w", encoding="utf-8") as file:
        file.writelines(f"import site; site.addsitedir({folder!r})\n" for folder in site.getsitepackages())


def main() -> int:
    """Do what the first word says; the exit status."""
    verb, *names = sys.argv[1:]
    if verb == "lacking":
        print(json.dumps(_lacking(names)))
        return 0
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked.json"), encoding="utf-8") as file:
        asked = json.load(file)
    if verb == "install":
        return _install(asked)
    return _serve(asked)


if __name__ == "__main__":
    sys.exit(main())
