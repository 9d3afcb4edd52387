"""Answers as data: the one place where an answer becomes JSON, without what is private."""

import json
from typing import Any


def data_text(answer: Any, with_values: bool = False) -> str:
    """The answer as JSON; `with_values`: with all that was read, for whoever owns the machine."""
    from rigup.machine.outward import outward

    told = answer if with_values else outward(answer)
    return json.dumps(told, ensure_ascii=False, indent=1, default=str)
