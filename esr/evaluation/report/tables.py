"""Tables of a page: the figures of runs with marks of significance, and comparisons with the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from esr.evaluation.results import ALL, RunEvaluation
from esr.evaluation.significance import SystemComparison

_HEADS = ("topics", "difference", "95 % interval", "t-test", "corrected", "randomised", "corrected")


def build_measures_table(results: Sequence[RunEvaluation]) -> str:
    """One row per run and type of topics, with the best figure of each column in bold."""
    names = list(results[0].values)
    kinds = list(results[0].groups)
    heads = ["run", "topics", *names]
    bodies = []
    for kind in kinds:
        lines = [] if len(kinds) == 1 else [_band(f"{kind} topics", len(heads))]
        best = {name: _find_best([result.groups[kind].means[name] for result in results]) for name in names}
        for result in results:
            figures = result.groups[kind]
            cells = [f"<td>{len(figures.topics)}</td>"]
            for name, value in figures.means.items():
                mark = figures.significance[name].mark if name in figures.significance else ""
                text = f"<b>{format_figure(value)}</b>" if value == best[name] else format_figure(value)
                cells.append(f'<td>{text}<span class="mark">{mark}</span></td>')
            lines.append(f"<tr>{_head(result)}{''.join(cells)}</tr>")
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _table(heads, "".join(bodies))


def build_comparisons_table(results: Sequence[RunEvaluation]) -> str:
    """For each measure and run: the difference, its interval, p-values, and topics won, tied and lost."""
    heads = ["run", *_HEADS, "won", "tied", "lost"]
    bodies = []
    for name in results[0].values:
        lines = [_band(name, len(heads))]
        for result in results:
            for kind, figures in result.groups.items():
                if name in figures.significance:
                    label = result.name if kind == ALL else f"{result.name}, {kind}"
                    cells = "".join(f"<td>{cell}</td>" for cell in _cells(figures.significance[name]))
                    lines.append(f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>')
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _table(heads, "".join(bodies))


def build_plain_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text; the first row has heads, the first column names."""
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows[1:]
    )
    return _table(rows[0], f"<tbody>{lines}</tbody>")


def _table(heads: Sequence[str], bodies: str) -> str:
    cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead>{bodies}</table></div>'


def _band(text: str, columns: int) -> str:
    return f'<tr><th class="band" scope="rowgroup" colspan="{columns}">{escape(text)}</th></tr>'


def _head(result: RunEvaluation) -> str:
    note = ' <span class="note">baseline</span>' if result.is_baseline else ""
    return f'<th scope="row">{escape(result.name)}{note}</th>'


def _cells(c: SystemComparison) -> Iterator[str]:
    yield str(c.topics)
    yield format_signed(c.difference) + (f'<span class="mark">{c.mark}</span>')
    yield "–" if math.isnan(c.low) else f"{format_signed(c.low)} to {format_signed(c.high)}"
    for value in (c.t_test, c.t_test_holm, c.randomisation, c.randomisation_holm):
        yield "&lt;0.0001" if value < 0.0001 else format_figure(value)
    yield from map(str, (c.wins, c.ties, c.losses))


def _find_best(values: Sequence[float]) -> float:
    """The maximum, or NaN, which equals nothing, if all values are equal."""
    numbers = [value for value in values if not math.isnan(value)]
    return max(numbers) if len(set(numbers)) > 1 else math.nan


def format_figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def format_signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
