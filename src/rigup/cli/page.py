"""The report as one HTML file: no network, light and dark, good in print. Also what a notebook shows."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from typing import Any

from msgspec import UNSET, to_builtins

from rigup import __version__
from rigup.cli.devices import with_limits
from rigup.cli.evidence import place_of
from rigup.cli.head_sentence import head_sentence, verdict_word
from rigup.cli.overview import name_of, overview
from rigup.cli.report import Grouped, answers, aside, grouped, harmless, has_own_check, loud, not_judged, troubles
from rigup.cli.typed_commands import commands, place, typed
from rigup.language import _, current
from rigup.schemas.doctor import Doctor
from rigup.schemas.shared import Device, Evidence, Fix, Step
from rigup.visible import visible

_STYLE = """
.rigup{--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--well:#f6f8fa;--bad:#a40e26;--warn:#7d4e00;--good:#116329;
--trial:#6639ba;color:var(--ink);background:var(--paper);font:16px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans",
"Noto Sans CJK SC",sans-serif;max-width:52rem;margin:0 auto;padding:1.5rem;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){.rigup{--paper:#0d1117;--ink:#e6edf3;--soft:#9ea7b3;--line:#30363d;--well:#161b22;
--bad:#ff8b8b;--warn:#e3b341;--good:#56d364;--trial:#d2a8ff}}
.rigup h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}.rigup h2{font-size:1.15rem;margin:2rem 0 .5rem}
.rigup h3{font-size:1rem;margin:1rem 0 .25rem}.rigup p{margin:.4rem 0}.rigup .soft{color:var(--soft)}
.rigup .broken,.rigup .error,.rigup .no{color:var(--bad)}.rigup .degraded,.rigup .warning{color:var(--warn)}
.rigup .healthy,.rigup .verified,.rigup .expected{color:var(--good)}.rigup .on-trial{color:var(--trial)}
.rigup article{border:1px solid var(--line);border-left:4px solid currentColor;border-radius:6px;padding:.75rem 1rem;margin:1rem 0}
.rigup article>*{color:var(--ink)}.rigup article.error{border-left-color:var(--bad)}.rigup article.warning{border-left-color:var(--warn)}
.rigup article .soft{color:var(--soft)}.rigup article .error{color:var(--bad)}.rigup article .warning{color:var(--warn)}
.rigup pre{background:var(--well);border:1px solid var(--line);border-radius:6px;padding:.5rem .75rem;margin:.4rem 0;overflow-x:auto;
white-space:pre-wrap;font:14px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace}
.rigup table{border-collapse:collapse;width:100%;margin:.5rem 0}.rigup th,.rigup td{text-align:left;vertical-align:top;
padding:.35rem .6rem;border-bottom:1px solid var(--line)}.rigup th{font-weight:600;white-space:nowrap}.rigup td.soft{min-width:9rem}.rigup article h2{margin-top:.25rem}.rigup td ul{margin:0}.rigup ul,.rigup ol{margin:.4rem 0;padding-left:1.4rem}
.rigup td.good,.rigup td.bad,.rigup td.weak,.rigup td.open,.rigup td.aside{font-weight:700;width:1rem}.rigup td.good{color:var(--good)}.rigup td.bad{color:var(--bad)}
.rigup td.weak,.rigup td.open{color:var(--warn)}.rigup td.what{white-space:nowrap}.rigup footer{margin-top:2rem;border-top:1px solid var(--line);font-size:.9rem}
.rigup button{float:right;margin:.3rem .3rem 0 .5rem;font:inherit;font-size:.85rem;color:var(--ink);background:var(--paper);border:1px solid var(--line);
border-radius:4px;padding:.15rem .6rem;cursor:pointer}.rigup summary{cursor:pointer;font-weight:600}.rigup details{margin:.75rem 0}
@media print{.rigup button{display:none}.rigup{max-width:none;padding:0;font-size:11pt;--paper:#fff;--ink:#000;--soft:#444;--line:#999;--well:#fff;--bad:#a40e26;
--warn:#7d4e00;--good:#116329;--trial:#6639ba}.rigup article,.rigup pre,.rigup tr{break-inside:avoid}.rigup a{color:inherit}}
"""


_TH = '<th scope="col">'
_SIGNS = {"good": "✓", "bad": "✗", "weak": "!", "open": "?", "aside": "·"}
# The one script of the page: buttons that copy commands. Browsers run no other, for the page names its hash.
_SCRIPT = """\
for (const well of document.querySelectorAll(".rigup pre")) {
  const button = document.createElement("button"), said = document.querySelector("main").dataset;
  button.type = "button";
  button.textContent = said.copy;
  button.addEventListener("click", async () => {
    const range = document.createRange();
    range.selectNodeContents(well);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    try { await navigator.clipboard.writeText(well.textContent); } catch { document.execCommand("copy"); }
    button.textContent = said.copied;
  });
  well.before(button);
}
"""
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"


def page(answer: Doctor, here: bool = True) -> str:
    """A whole document. `here`: about this machine, else about somebody's."""
    title = _("rigup: {verdict}").format(verdict=_(answer.verdict))
    return (
        f'<!doctype html>\n<html lang="{current().replace("_", "-")}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>body{{margin:0;background:#fff}}"
        f"@media(prefers-color-scheme:dark){{body{{background:#0d1117}}}}{_STYLE}</style>\n</head>\n<body>\n"
        f"{fragment(answer, here, styled=False)}\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def fragment(answer: Doctor, here: bool = True, styled: bool = True) -> str:
    """The report alone, as a notebook shows it; with its own style unless the document has it."""
    answer = with_limits(answer)
    parts = [
        _head(answer, here),
        *_since_ok(answer),
        *_findings(answer),
        *_looked_at(answer),
        *_devices(answer),
        *_notes(answer),
        *_skipped(answer),
        *_troubles(answer),
        *_facts(answer),
        _foot(answer),
    ]
    style = f"<style>{_STYLE}</style>\n" if styled else ""
    copy, copied = _("Copy"), _("Copied")
    words = f'data-copy="{_html(copy)}" data-copied="{_html(copied)}"'
    return f'{style}<main class="rigup" {words}>\n' + "\n".join(parts) + "\n</main>"


def _head(answer: Doctor, here: bool) -> str:
    verdict = answer.verdict
    marked = f'<span class="{verdict}">{_html(verdict_word(answer))}</span>'
    sentence = _html(_("{verdict}. {meaning}")).format(verdict=marked, meaning=_html(head_sentence(answer, here)))
    return f"<h1>{sentence}</h1>"


def _since_ok(answer: Doctor) -> Iterator[str]:
    """What has changed since all was well, where that was asked for."""
    if answer.since_ok is UNSET:
        return
    from rigup.cli.difference import items
    from rigup.cli.since import opening_of

    yield from (f"<p>{_prose(sentence)}</p>" for sentence in opening_of(answer.since_ok))
    sentences, _more = items(answer.since_ok.differences)
    if sentences:
        yield "<ul>\n" + "\n".join(f"<li>{_html(difference)}</li>" for difference in sentences) + "\n</ul>"


def _findings(answer: Doctor) -> Iterator[str]:
    for group in grouped(answer.findings):
        if loud(group):
            yield _article(group)


def _article(group: Grouped) -> str:
    about = [group.cause, _(group.confidence), *(subject for subject in group.subjects if subject != "machine")]
    about += [group.place] if group.place else []
    severity = f'<span class="{group.severity}">{_html(_(group.severity))}</span>'
    parts = [
        f'<article class="{group.severity}">',
        f"<h2>{severity} · {_html(group.title)}</h2>",
        f'<p class="soft">{_html(" · ".join(about))}</p>',
        _section(_("How to make sure"), group.make_sure),
        _fixes(group.fixes),
        _section(_("What mends it"), group.mends),
        _section(_("Why"), group.because),
        _evidence(group.evidence),
        _section(_("Tried in vain"), group.in_vain),
        "</article>",
    ]
    return "\n".join(part for part in parts if part)


def _evidence(evidence: list[Evidence]) -> str:
    """What decided: each text once, with where it stands."""
    rows = {(line.source, line.line or line.value): line for line in evidence}
    rows_text = "".join(f'<tr><td>{_html(_value(line))}</td><td class="soft">{_html(_place(line))}</td></tr>' for line in rows.values())
    heads = "".join(f"{_TH}{_html(head)}</th>" for head in (_("Text"), _("Where")))
    return _heading(3, _("What was seen")) + f"\n<table><tr>{heads}</tr>{rows_text}</table>" if rows_text else ""


def _value(line: Evidence) -> str:
    return str(line.value or _("nothing such was found"))


def _place(line: Evidence) -> str:
    return place_of(str(line.source), line.line)


def _fixes(fixes: list[Fix]) -> str:
    if not fixes:
        return ""
    ways = [_fix(number, fix) + (_check(fix) if has_own_check(fixes, number) else "") for number, fix in enumerate(fixes)]
    return _heading(3, _("What mends it")) + "\n" + "\n".join(ways)


def _fix(number: int, fix: Fix) -> str:
    steps = "".join(f"<li>{_html(step.title)}{_needs(step)}{_commands(step)}</li>" for step in fix.steps)
    other = _("or:")
    either = f"<p>{_html(other)}</p>" if number else ""
    return f"{either}<ol>{steps}</ol>"


def _check(fix: Fix) -> str:
    """How to see that it worked."""
    check = fix.check
    return f'\n<p class="soft">{_html(check.title)}</p>{_well(typed(check.commands, check.where))}'


def _needs(step: Step) -> str:
    remarks = [place(step), _("then restart the machine") if step.restart else ""]
    words = aside(remark for remark in remarks if remark).strip()
    return f' <span class="soft">{_html(words)}</span>' if words else ""


def _commands(step: Step) -> str:
    return _well(commands(step))


def _well(lines: list[str]) -> str:
    return f"<pre>{_html(chr(10).join(lines))}</pre>" if lines else ""


def _looked_at(answer: Doctor) -> Iterator[str]:
    """What was looked at, a row for each."""
    rows = [
        f'<tr><td class="{line.mark}">{_SIGNS[line.mark]}</td><td class="what">{_html(line.title)}</td><td>{_html(" · ".join(line.facts))}'
        + "".join(f'<br><span class="soft">{_html(state)}</span>' for state in line.state.split("\n") if state)
        + "</td></tr>"
        for line in overview(answer, 1)
    ]
    if rows:
        yield _heading(2, _("What was looked at")) + f"\n<table>{''.join(rows)}</table>"


def _devices(answer: Doctor) -> Iterator[str]:
    devices = answer.machine.accelerators or []
    if not any(device.limits and device.limits.lacks for device in devices):
        return
    columns = ("#", _("Device"), _("What it cannot do"))
    rows = [_device(device) for device in devices]
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]  # one of nothing tells nothing
    heads = "".join(f"{_TH}{_html(columns[place])}</th>" for place in kept)
    body = "".join("<tr>" + "".join(f"<td>{row[place]}</td>" for place in kept) + "</tr>" for row in rows)
    yield _heading(2, _("Devices")) + f"\n<table><tr>{heads}</tr>{body}</table>"


def _device(device: Device) -> tuple[str, ...]:
    """The cells of one device."""
    isa = f'<br><span class="soft">{_html(device.isa)}</span>' if device.isa else ""
    lacks = "".join(f"<li>{_html(_(lack.text))}</li>" for lack in (device.limits.lacks if device.limits else ()))
    return str(device.index), _html(name_of(device)) + isa, f"<ul>{lacks}</ul>" if lacks else ""


def _foot(answer: Doctor) -> str:
    """When, by what, and of which machine."""
    named = next((" · ".join(line.facts) for line in overview(answer) if line.title == _("System")), _("not told"))
    template = _("Written by rigup {version} on {date}. The machine: {machine}.")
    text = template.format(version=__version__, date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), machine=named)
    return f'<footer class="soft"><p>{_html(text)}</p></footer>'


def _notes(answer: Doctor) -> Iterator[str]:
    for head, questions in answers(answer):
        parts = (f"<p>{_prose(question.answer)}</p>{_well(question.commands)}" for question in questions)
        yield _heading(2, head) + "\n" + "\n".join(parts)
    for head, sentences in harmless(answer):
        yield _heading(2, head) + "\n" + _list(sentences)
    titles = [group.title for group in grouped(answer.findings) if not loud(group)]
    if titles:
        yield _heading(2, _("Notes")) + "\n" + _list(titles)


def _skipped(answer: Doctor) -> Iterator[str]:
    if sentences := not_judged(answer.skipped):
        yield _details(_("Not judged"), _list(sentences))


def _troubles(answer: Doctor) -> Iterator[str]:
    if sentences := troubles(answer):
        items = "".join(f"<li>{_prose(sentence)}</li>" for sentence in sentences)
        yield _heading(2, _("What could not be read")) + f"\n<ul>{items}</ul>"


def _facts(answer: Doctor) -> Iterator[str]:
    rows = [
        f"<tr><td>{_html(kind)}</td><td>{_html(_fact(fact))}</td></tr>"
        for kind, facts in sorted(to_builtins(answer.machine).items())
        for fact in (facts if isinstance(facts, list) else [])
        if kind != "accelerators"
    ]
    if rows:
        yield _details(_("Facts"), f"<table>{''.join(rows)}</table>")


def _fact(fact: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in fact.items() if value not in (None, "", []))


def _heading(level: int, text: str) -> str:
    return f"<h{level}>{_html(text)}</h{level}>"


def _section(title: str, paragraph: str) -> str:
    """A paragraph under its heading; nothing where there is nothing to tell."""
    return _heading(3, title) + f"<p>{_prose(paragraph)}</p>" if paragraph else ""


def _details(title: str, body: str) -> str:
    return f"<details><summary>{_html(title)}</summary>\n{body}</details>"


def _list(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_html(item)}</li>" for item in texts) + "</ul>"


def _html(text: str) -> str:
    """Text, and never markup: what machines and logs say is not to be trusted."""
    return escape(visible(str(text)), quote=True)


def _prose(text: str) -> str:
    """Text whose `code` is set as such."""
    pieces = _html(text).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
