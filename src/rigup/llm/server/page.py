"""The page on which one talks to the models that are served: one file, nothing fetched from elsewhere.

It holds no secret: the key is asked for, or comes in the fragment of its address, which a browser keeps to itself.
"""

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib import resources

from rigup.language import N_, SUPPORTED, known, spoken_in

_WORDS = {
    "settings": N_("Settings"),
    "fresh": N_("New chat"),
    "send": N_("Send"),
    "stop": N_("Stop"),
    "copy": N_("Copy"),
    "copied": N_("Copied"),
    "model": N_("Model"),
    "talk": N_("The talk"),
    "message": N_("Your message"),
    "system": N_("System prompt"),
    "enter": N_("Enter"),
    "key": N_("Key, as `rigup serve` printed it; it is kept until this page is closed"),
    "thinking": N_("Reasoning"),
    "rate": N_("{tokens} tokens, {rate} a second; the first after {first} s"),
}
_MOST = 200
_NO_MORE = (
    b"x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\ncache-control: no-store\r\nvary: accept-language\r\n"
    b"cross-origin-opener-policy: same-origin\r\ncross-origin-resource-policy: same-origin\r\n"
)


def wanted_language(accepted: str) -> str:
    """The first language of `Accept-Language` that rigup has texts in, else English."""
    named = [language.partition(";")[0].strip() for language in accepted[:_MOST].split(",")]
    return next((known(language) for language in named if known(language) != "en" or language.lower().startswith("en")), "en")


@cache
def page(language: str) -> tuple[bytes, bytes]:
    """The page in a language, and the heads that go with it."""
    assert language in SUPPORTED  # noqa: S101
    say = spoken_in(language)
    text = resources.files(__package__).joinpath("page.html").read_text("utf-8")
    words = escape(json.dumps({name: say(word) for name, word in _WORDS.items()}, ensure_ascii=False))
    policy = (
        f"default-src 'none'; connect-src 'self'; style-src {_hash(text, 'style')}; script-src {_hash(text, 'script')}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    body = text.replace("LANGUAGE", language.replace("_", "-"), 1).replace("WORDS", words, 1)
    return body.encode(), _NO_MORE + f"content-security-policy: {policy}\r\n".encode()


def _hash(text: str, tag: str) -> str:
    (inner,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return f"'sha256-{base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()}'"
