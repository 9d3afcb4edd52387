"""The recipe of an image for people's own work: that of a plan, with pip's cache mounted, a user that is not root, and a check."""

import json
import re
from collections.abc import Iterator, Mapping

from rigup.plan.render import rendered
from rigup.stack.choice import Choice

_PIP = re.compile(r'RUN (\["[^"]{1,200}", "-m", "pip", "install",)')
_USER, _HOME, _FOLDER = "1000:1000", "/tmp", "/work"
_IMPORTED = ("torch", "tensorflow", "jax", "vllm", "onnxruntime")


def recipe(choice: Choice, images: Mapping[str, str] | None = None) -> str:
    """A Dockerfile. What pip loads is kept between builds and in no layer; the program is not root."""
    lines = rendered(choice, "dockerfile", images).splitlines()
    at = next((number for number, line in enumerate(lines) if line.startswith(("ENTRYPOINT", "CMD"))), len(lines))
    return "\n".join([*map(_cached, lines[:at]), *_end(choice, lines[at:]), *lines[at:], ""])


def _cached(line: str) -> str:
    line = line.replace("ENV PIP_NO_CACHE_DIR=1 ", "ENV ")
    return _PIP.sub(r"RUN --mount=type=cache,target=/root/.cache/pip \1", line)


def _end(choice: Choice, after: list[str]) -> Iterator[str]:
    """Who runs it and where, and what tells that it is well."""
    yield f"WORKDIR {_FOLDER}"
    yield f"ENV HOME={_HOME}"
    yield f"USER {_USER}"
    name = next(
        (package for package in _IMPORTED if any(build.build.package == package for build in choice.chosen)), ""
    )
    python = next((json.loads(line[4:])[0] for line in after if line.startswith("CMD [")), "python3")
    if name:
        yield f"HEALTHCHECK --interval=5m --timeout=2m CMD {json.dumps([python, '-c', 'import ' + name])}"
