"""The report as a page: readable for all, without a word of markup from outside, and seen by a real browser."""

import base64
import hashlib
import itertools
import os
import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec import structs

from rigup import __version__, language
from rigup.cli.page import fragment, page
from rigup.diagnosis.answer import diagnose

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = """\
</table><script>alert(1)</script><img src=x onerror=alert(2)>
GPU 0: NVIDIA <b>GeForce</b> RTX 3060 (UUID: GPU-00000000-0000-0000-0000-000000000001)
"""


class Outline(HTMLParser):
    """Tags in order, and whether each that is opened is closed."""

    VOID = ("meta", "br", "link", "img", "input", "hr")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.wrong, self.attrs = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attrs.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def outlined(text):
    outline = Outline()
    outline.feed(text)
    outline.close()
    return outline


@pytest.fixture(params=["cpu-build.txt", "two-devices.txt", "healthy.txt"])
def answer(request):
    return diagnose(str(EXAMPLES / request.param))


def test_every_tag_is_closed_and_the_outline_is_sound(answer):
    outline = outlined(page(answer, here=False))
    assert (outline.open, outline.wrong) == ([], [])
    assert outline.seen.count("main") == outline.seen.count("h1") == outline.seen.count("title") == 1
    levels = [int(tag[1]) for tag in outline.seen if re.fullmatch(r"h[1-6]", tag)]
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))
    assert all(attrs.get("scope") == "col" for tag, attrs in outline.attrs if tag == "th")


def test_nothing_is_fetched_and_nothing_is_run_but_the_buttons_that_copy(answer):
    text = page(answer, here=False)
    assert not re.search(r"\ssrc=|<link|@import|url\(|\son\w+=", text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    made = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{made}'\"" in text
    assert "<script" not in fragment(answer)


def test_the_page_tells_when_and_by_what_it_was_written_and_of_which_machine(answer):
    told = page(structs.replace(answer, machine=structs.replace(answer.machine, distributions=[{"name": "Debian 13"}])), here=False)
    foot = told.partition("<footer")[2]
    assert __version__ in foot
    assert "Debian 13" in foot
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", foot)


@pytest.mark.parametrize("code", language.SUPPORTED)
def test_the_page_says_its_language(answer, code):
    language.choose(code)
    assert f'<html lang="{code.replace("_", "-")}">' in page(answer)


def test_what_a_log_says_is_never_markup(tmp_path):
    (tmp_path / "log.txt").write_text(HOSTILE)
    text = page(diagnose(str(tmp_path / "log.txt")), here=False)
    assert text.count("<script") == 1  # our own
    assert "alert(1)" not in text.partition("<script>")[2]
    assert "<img" not in text
    assert "&lt;b&gt;GeForce&lt;/b&gt;" in text


def luminance(color):
    parts = (
        [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)] if len(color) == 7 else [int(c * 2, 16) / 255 for c in color[1:]]
    )
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_of_text_stands_out_from_its_ground(answer):
    """WCAG 2 asks for 4.5 to 1."""
    for palette in re.findall(r"\{(--paper:[^}]*)\}", fragment(answer).replace("\n", "")) or []:
        colors = dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", palette))
        for name in ("ink", "soft", "bad", "warn", "good", "trial"):
            for ground in ("paper", "well"):
                bright, dark = sorted((luminance(colors[name]), luminance(colors[ground])), reverse=True)
                assert (bright + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


@pytest.mark.browser
@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
@pytest.mark.parametrize("size", ["1000,1400", "390,1400"])
def test_a_real_browser_shows_it(answer, size, tmp_path):
    (tmp_path / "report.html").write_text(page(answer, here=False), encoding="utf-8")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            *root,
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={size}",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--screenshot={tmp_path / 'shot.png'}",
            (tmp_path / "report.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    image = (tmp_path / "shot.png").read_bytes()
    assert struct.unpack(">II", image[16:24]) == tuple(map(int, size.split(",")))
    assert len(image) > 20_000  # an empty page is smaller by far
