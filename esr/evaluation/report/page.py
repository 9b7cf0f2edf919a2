"""The page that holds tables and pictures: one HTML file that needs no other, no host and no script.

Colours are variables: the same pictures are dark on white in print, and light on dark on a dark screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import esr
from esr.evaluation.report import tables
from esr.evaluation.report.picture import Picture, inline, variable
from esr.evaluation.report.style import DARK
from esr.evaluation.results import ALL, Evaluated

_MARKS = "* differs from {} at 95 %, ** at 99 %: paired two-sided t-test{}. Bold is the best of a column."


@dataclass(frozen=True)
class Report:
    """All that a page shows. `notes` tell of topics and runs that are not as they should be."""

    title: str
    results: Sequence[Evaluated]
    pictures: Sequence[Picture]
    notes: Sequence[str] = field(default=())


def html(report: Report) -> str:
    """The whole page. The same report gives the same text: there is no date in it."""
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="faint">{_summary(report.results)}</p>',
        _notes(report.notes),
        _tables(report.results),
        *map(_picture, report.pictures),
        f'<p class="faint">Made by esr {escape(esr.__version__)}; measures by ir_measures.</p>',
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _style() -> str:
    light = " ".join(f"{variable(color)}: {color};" for color in DARK)
    dark = " ".join(f"{variable(color)}: {other};" for color, other in DARK.items())
    rules = Path(__file__).with_name("page.css").read_text("utf-8")
    on_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }} }}"
    return f":root {{ color-scheme: light; {light} }}\n{on_dark}\n{rules}"


def _summary(results: Sequence[Evaluated]) -> str:
    topics, baseline = len(results[0].parts[ALL].topics), next((r for r in results if r.is_baseline), None)
    against = f", compared with {escape(baseline.name)}" if baseline else ""
    return f"{_count(len(results), 'run')} on {_count(topics, 'judged topic')}{against}."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return f"<h2>Notes</h2>\n<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"


def _tables(results: Sequence[Evaluated]) -> str:
    parts = ["<h2>Measures</h2>"]
    baseline = next((result for result in results if result.is_baseline), None)
    compared = baseline is not None and len(results) > 1
    if baseline and compared:
        others = len(results) - 1
        over = f", corrected by Holm over {others} runs" if others > 1 else ""
        parts.append(f"<p>{_MARKS.format(escape(baseline.name), over)}</p>")
    parts.append(tables.measures(results))
    if baseline and compared:
        parts.append(f"<h2>Differences from {escape(baseline.name)}</h2>")
        parts.append(
            "<p>The mean of the topics’ differences, its confidence interval, the p-values of the paired "
            "t-test and of the randomisation test, each also corrected for the number of runs, and the "
            "topics on which the run is better, equal and worse.</p>"
        )
        parts.append(tables.comparisons(results))
    return "\n".join(parts)


def _picture(picture: Picture) -> str:
    table = tables.plain(picture.rows) if picture.rows else ""
    numbers = f"<details><summary>The numbers</summary>{table}</details>" if table else ""
    return (
        f'<section class="{picture.name}">\n<h2 id="{picture.name}-title">{escape(picture.title)}</h2>\n'
        f"<figure>\n<figcaption><p>{escape(picture.text)}</p></figcaption>\n{inline(picture)}\n</figure>\n"
        f"{numbers}\n</section>"
    )
