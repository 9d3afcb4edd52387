"""Runs functions `test_…` of files in this interpreter, which needs torch and nothing else.

    python tests/rigup_torch/run_checks.py [--apart] FILE…

Prints a line of JSON for each: its name, whether it was passed, skipped and why, or the trace of its failure. `--apart`
runs each file in a process of its own, a fork of one that has imported torch.
"""

import doctest
import importlib.util
import json
import os
import re
import sys
import traceback
import unittest
import warnings
from pathlib import Path


def outcomes(path):
    """The outcome of every function of one file, in the order in which they stand there."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, check in list(vars(module).items()):
        if name.startswith("test_"):
            yield {"name": path.stem + "::" + name, **outcome(check)}


def outcome(check):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check()
    except unittest.SkipTest as why:
        return {"skipped": str(why)}
    except BaseException:
        return {"failed": traceback.format_exc()}
    return {"passed": True}


def pages(path):
    """The examples of a page of the documentation: what stands in its blocks of `pycon` is typed, one after another."""
    text, names = path.read_text(encoding="utf-8"), {}
    blocks = list(re.finditer(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        example = doctest.DocTestParser().get_doctest(block[1], names, path.name, str(path), line)
        output = []
        failed = runner.run(example, out=output.append, clear_globs=False).failed
        names.update(example.globs)
        yield {"name": f"{path.stem}::line {line}", **({"failed": "".join(output)} if failed else {"passed": True})}


def told(path):
    for result in pages(path) if path.suffix == ".md" else outcomes(path):
        print(json.dumps(result), flush=True)


def apart(path):
    """One file in a fork; its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        told(path)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    words = sys.argv[1:]
    paths = [Path(word) for word in words if word != "--apart"]
    if "--apart" not in words:
        return [told(path) for path in paths] and 0
    import torch  # noqa: F401  (once for all forks)

    return max(abs(apart(path)) for path in paths)


if __name__ == "__main__":
    sys.exit(main())
