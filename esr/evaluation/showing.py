"""Evaluated runs as a table for people, as CSV for spreadsheets, as JSON for programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from esr.evaluation.results import ALL, Evaluated, Part
from esr.evaluation.significance import Comparison

_COMPARISON = tuple(field.name for field in fields(Comparison) if field.name != "topics")


def as_json(results: Sequence[Evaluated], *, per_topic: bool = False) -> list[dict[str, Any]]:
    """One object a run: `run`, `measures`, and as far as asked for `topics`, `significance`, `types`."""
    return [_object(result, per_topic) for result in results]


def _object(result: Evaluated, per_topic: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"run": result.name, **_figures(result.parts[ALL])}
    if result.is_baseline:
        shown["baseline"] = True
    if len(result.parts) > 1:
        shown["types"] = {
            kind: {"count": len(part.topics), **_figures(part)}
            for kind, part in result.parts.items()
            if kind != ALL
        }
    if per_topic:
        shown["topics"] = {
            topic: {name: _number(values.get(topic)) for name, values in result.values.items()}
            for topic in result.parts[ALL].topics
        }
    return shown


def _figures(part: Part) -> dict[str, Any]:
    found: dict[str, Any] = {"measures": {name: _number(value) for name, value in part.means.items()}}
    if part.significance:
        found["significance"] = {name: each.as_dict() for name, each in part.significance.items()}
    return found


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def as_csv(results: Sequence[Evaluated], *, per_topic: bool = False) -> str:
    """A line for each run, type, topic and measure; the topic `all` is the mean."""
    compared = any(part.significance for result in results for part in result.parts.values())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "type", "topic", "measure", "value", *(_COMPARISON if compared else ())])
    for result in results:
        if per_topic:
            for topic in result.parts[ALL].topics:
                for name, values in result.values.items():
                    writer.writerow([result.name, ALL, topic, name, values.get(topic, "")])
        for kind, part in result.parts.items():
            for name, value in part.means.items():
                compared_with = _compared(part.significance.get(name))
                writer.writerow([result.name, kind, ALL, name, value, *compared_with])
    return text.getvalue()


def _compared(comparison: Comparison | None) -> list[Any]:
    return [getattr(comparison, name) for name in _COMPARISON] if comparison else []


def as_table(results: Sequence[Evaluated], *, per_topic: bool = False) -> str:
    """The figures to four decimals, marked where they differ from the baseline's; then the comparisons."""
    parts = [*_per_topic(results)] if per_topic else []
    parts.append(_means(results))
    baseline = next((result for result in results if result.is_baseline), None)
    if baseline and len(results) > 1:
        others = len(results) - 1
        over = f", corrected by Holm over {others} runs" if others > 1 else ""
        parts[-1] += f"\n\n* differs from {baseline.name} at 95 %, ** at 99 %: paired two-sided t-test{over}"
        parts += _comparisons(results)
    return "\n\n".join(parts)


def _means(results: Sequence[Evaluated]) -> str:
    typed = any(len(result.parts) > 1 for result in results)
    rows = [["run", *(["type"] if typed else []), "topics", *results[0].values]]
    for result in results:
        for kind, part in result.parts.items():
            row = [result.name, *([kind] if typed else []), str(len(part.topics))]
            for name, value in part.means.items():
                mark = part.significance[name].mark if name in part.significance else ""
                row.append(f"{_four(value)}{mark:<2}")
            rows.append(row)
    return grid(rows, left=2 if typed else 1)


def _per_topic(results: Sequence[Evaluated]) -> Iterator[str]:
    for name in results[0].values:
        rows = [[name, *(result.name for result in results)]]
        for topic in results[0].parts[ALL].topics:
            rows.append([topic, *(_four(result.values[name].get(topic)) for result in results)])
        yield grid(rows, left=1)


def _comparisons(results: Sequence[Evaluated]) -> Iterator[str]:
    for name in results[0].values:
        head = ["difference", "95 % interval", "t-test", "corrected", "randomised", "corrected"]
        rows = [[name, "topics", *head, "won", "tied", "lost"]]
        for result in results:
            for kind, part in result.parts.items():
                if name in part.significance:
                    of = result.name if kind == ALL else f"{result.name}, {kind}"
                    rows.append([of, *_comparison(part.significance[name])])
        yield grid(rows, left=1)


def _comparison(each: Comparison) -> list[str]:
    return [
        str(each.topics),
        f"{each.difference:+.4f}",
        "-" if math.isnan(each.low) else f"{each.low:+.4f} to {each.high:+.4f}",
        *map(_p, (each.t_test, each.t_test_holm, each.randomisation, each.randomisation_holm)),
        *map(str, (each.wins, each.ties, each.losses)),
    ]


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else _four(value)


def _four(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"


def grid(rows: Sequence[Sequence[str]], left: int) -> str:
    """Rows as aligned columns, the first `left` ones to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if n < left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
