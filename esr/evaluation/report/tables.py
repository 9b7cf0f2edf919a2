"""Evaluated runs as tables of a page: the figures with their marks, and the comparisons with the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from esr.evaluation.results import ALL, Evaluated
from esr.evaluation.significance import Comparison

_HEADS = ("topics", "difference", "95 % interval", "t-test", "corrected", "randomised", "corrected")


def measures(results: Sequence[Evaluated]) -> str:
    """A row for each run and type of topics, the best figure of each column in bold."""
    names = list(results[0].values)
    kinds = list(results[0].parts)
    heads = ["run", "topics", *names]
    bodies = []
    for kind in kinds:
        lines = [] if len(kinds) == 1 else [_band(f"{kind} topics", len(heads))]
        best = {name: _best([result.parts[kind].means[name] for result in results]) for name in names}
        for result in results:
            part = result.parts[kind]
            cells = [f"<td>{len(part.topics)}</td>"]
            for name, value in part.means.items():
                mark = part.significance[name].mark if name in part.significance else ""
                shown = f"<b>{four(value)}</b>" if value == best[name] else four(value)
                cells.append(f'<td>{shown}<span class="mark">{mark}</span></td>')
            lines.append(f"<tr>{_head(result)}{''.join(cells)}</tr>")
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _table(heads, "".join(bodies))


def comparisons(results: Sequence[Evaluated]) -> str:
    """For each measure and run: by how much, within what, by luck how likely, and on how many topics."""
    heads = ["run", *_HEADS, "won", "tied", "lost"]
    bodies = []
    for name in results[0].values:
        lines = [_band(name, len(heads))]
        for result in results:
            for kind, part in result.parts.items():
                if name in part.significance:
                    of = result.name if kind == ALL else f"{result.name}, {kind}"
                    cells = "".join(f"<td>{cell}</td>" for cell in _cells(part.significance[name]))
                    lines.append(f'<tr><th scope="row">{escape(of)}</th>{cells}</tr>')
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _table(heads, "".join(bodies))


def plain(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text, the first being heads and the first column names."""
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


def _head(result: Evaluated) -> str:
    note = ' <span class="note">baseline</span>' if result.is_baseline else ""
    return f'<th scope="row">{escape(result.name)}{note}</th>'


def _cells(each: Comparison) -> Iterator[str]:
    yield str(each.topics)
    yield signed(each.difference) + (f'<span class="mark">{each.mark}</span>')
    yield "–" if math.isnan(each.low) else f"{signed(each.low)} to {signed(each.high)}"
    for value in (each.t_test, each.t_test_holm, each.randomisation, each.randomisation_holm):
        yield "&lt;0.0001" if value < 0.0001 else four(value)
    yield from map(str, (each.wins, each.ties, each.losses))


def _best(values: Sequence[float]) -> float:
    """The greatest, or NaN, which nothing equals, where none is better than another."""
    known = [value for value in values if not math.isnan(value)]
    return max(known) if len(set(known)) > 1 else math.nan


def four(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
