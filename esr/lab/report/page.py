"""A report as a self-contained HTML page: tables, pictures, and notes about its inputs.

The page has no date, so the same inputs give the same page. It can be read without its script. Colours are
CSS variables: pictures are dark on white in print and on light screens, and light on dark on dark screens.
Colour-blind readers can distinguish the colours; lines also differ in markers and are labelled at their ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import esr
from esr.lab.report.picture_style import DARK
from esr.lab.report.pictures import Picture, css_variable, to_inline_svg
from esr.lab.report.result_tables import build_comparisons_table, build_measures_table, build_plain_table
from esr.lab.results import ALL, RunEvaluation
from esr.plugin.provisional import count

_MARKS = "* differs from {} at 95 %, ** at 99 %: paired two-sided t-test{}. Bold is the best of a column."


@dataclass(frozen=True)
class ReportPage:
    """The contents of a page. `notes` are about problems of topics and runs, `moves` is a section of HTML."""

    title: str
    results: Sequence[RunEvaluation]
    pictures: Sequence[Picture]
    notes: Sequence[str] = field(default=())
    moves: str = ""


def render(report: ReportPage) -> str:
    """Render the page. The same report gives the same page: it contains no date."""
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="faint">{_summarise(report.results)}</p>',
        _render_notes(report.notes),
        _render_tables(report.results),
        *map(_render_picture, report.pictures),
        report.moves,
        f'<p class="faint">Made by esr {escape(esr.__version__)}; measures by ir_measures.</p>',
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{_render_style()}</style>\n</head>\n"
        f"<body>\n{body}\n<script>\n{_read_beside('page.js')}</script>\n</body>\n</html>\n"
    )


def _render_style() -> str:
    light = " ".join(f"{css_variable(color)}: {color};" for color in DARK)
    dark = " ".join(f"{css_variable(color)}: {other};" for color, other in DARK.items())
    rules = _read_beside("page.css")
    on_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }} }}"
    return f":root {{ color-scheme: light; {light} }}\n{on_dark}\n{rules}"


def _read_beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _summarise(results: Sequence[RunEvaluation]) -> str:
    topics = len(results[0].groups[ALL].topics)
    baseline = next((result for result in results if result.is_baseline), None)
    comparison = f", compared with {escape(baseline.name)}" if baseline else ""
    return f"{count(len(results), 'run')} on {count(topics, 'judged topic')}{comparison}."


def _render_notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return f"<h2>Notes</h2>\n<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"


def _render_tables(results: Sequence[RunEvaluation]) -> str:
    parts = ["<h2>Measures</h2>"]
    baseline = next((result for result in results if result.is_baseline), None)
    has_comparisons = baseline is not None and len(results) > 1
    if baseline and has_comparisons:
        others = len(results) - 1
        correction = f", corrected by Holm over {others} runs" if others > 1 else ""
        parts.append(f"<p>{_MARKS.format(escape(baseline.name), correction)}</p>")
    parts.append(build_measures_table(results))
    if baseline and has_comparisons:
        parts.append(f"<h2>Differences from {escape(baseline.name)}</h2>")
        parts.append(
            "<p>The mean of the topics’ differences, its confidence interval, its size in standard "
            "deviations of the differences (Cohen’s d), the p-values of the paired t-test and of the "
            "randomisation test, each also corrected for the number of runs, and the topics on which the "
            "run is better, equal and worse.</p>"
        )
        parts.append(build_comparisons_table(results))
    return "\n".join(parts)


def _render_picture(picture: Picture) -> str:
    table = build_plain_table(picture.rows) if picture.rows else ""
    numbers = f"<details><summary>The numbers</summary>{table}</details>" if table else ""
    return (
        f'<section class="{picture.name}">\n<h2 id="{picture.name}-title">{escape(picture.title)}</h2>\n'
        f"<figure>\n<figcaption><p>{escape(picture.text)}</p></figcaption>\n{to_inline_svg(picture)}\n</figure>\n"
        f"{numbers}\n</section>"
    )
