"""Tables of measures and comparisons as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from esr.lab.results import COMPARISON_HEADS, RunEvaluation, comparison_rows


def build_measures_table(results: Sequence[RunEvaluation]) -> str:
    """A row for each run and type of topics. The best figure of each column is bold."""
    names = list(results[0].values)
    kinds = list(results[0].groups)
    heads = ["run", "topics", *names]
    bodies = []
    for kind in kinds:
        lines = [] if len(kinds) == 1 else [_render_heading(f"{kind} topics", len(heads))]
        best = {name: _find_best([result.groups[kind].means[name] for result in results]) for name in names}
        for result in results:
            figures = result.groups[kind]
            cells = [f"<td>{len(figures.topics)}</td>"]
            for name, value in figures.means.items():
                mark = figures.significance[name].mark if name in figures.significance else ""
                text = f"<b>{format_figure(value)}</b>" if value == best[name] else format_figure(value)
                cells.append(f'<td>{text}<span class="mark">{mark}</span></td>')
            lines.append(f"<tr>{_render_run_head(result)}{''.join(cells)}</tr>")
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _render_table(heads, "".join(bodies))


def build_comparisons_table(results: Sequence[RunEvaluation]) -> str:
    """For each measure and run: the difference, its interval and size, p-values, and topics won or lost."""
    heads = ["run", *COMPARISON_HEADS]
    bodies = []
    for name in results[0].values:
        lines = [_render_heading(name, len(heads))]
        for (label, topics, difference, *rest), mark in comparison_rows(results, name):
            cells = "".join(f"<td>{_typeset(cell)}</td>" for cell in rest)
            marked = f'<td>{_typeset(difference)}<span class="mark">{mark}</span></td>'
            lines.append(f'<tr><th scope="row">{escape(label)}</th><td>{topics}</td>{marked}{cells}</tr>')
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _render_table(heads, "".join(bodies))


def build_plain_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of text. The first row has the column heads, the first column the row heads."""
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows[1:]
    )
    return _render_table(rows[0], f"<tbody>{lines}</tbody>")


def _render_table(heads: Sequence[str], bodies: str) -> str:
    cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead>{bodies}</table></div>'


def _render_heading(text: str, columns: int) -> str:
    return f'<tr><th class="band" scope="rowgroup" colspan="{columns}">{escape(text)}</th></tr>'


def _render_run_head(result: RunEvaluation) -> str:
    note = ' <span class="note">baseline</span>' if result.is_baseline else ""
    return f'<th scope="row">{escape(result.name)}{note}</th>'


def _typeset(cell: str) -> str:
    """A cell of numbers as HTML, with a proper minus sign or dash."""
    return "–" if cell == "-" else escape(cell.replace("-", "−"))


def _find_best(values: Sequence[float]) -> float:
    """The maximum, or NaN if all values are equal. NaN equals no value, so none is highlighted."""
    numbers = [value for value in values if not math.isnan(value)]
    return max(numbers) if len(set(numbers)) > 1 else math.nan


def format_figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def format_signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
