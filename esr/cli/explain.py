"""`esr explain`: why a sentence has its score."""

from __future__ import annotations

import json

import click

import esr
from esr.cli import options
from esr.dependency.explain import TermSet
from esr.dependency.text_tree import text_tree
from esr.ranking.explain import Explanation
from esr.ranking.explain import explain as explained
from esr.ranking.explain_parts import FeaturePart
from esr.ranking.explain_second import SecondPart
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("query")
@click.argument("sentence_id")
@options.index
@options.ranking
@options.as_json
def explain(query: str, sentence_id: str, where: str, ranking: Ranking, as_json: bool) -> None:
    """Show the parts of a sentence's score: they add up to it.

    \b
    Example:
      esr explain "earthquake relief China" NA-12.s3 --index my-index
    """
    with esr.open(where) as searcher:
        prepared = searcher.prepare(query, ranking)
        found = explained(prepared, sentence_id)
        (record,) = prepared.index.sentences([sentence_id])
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=1))
        return
    click.echo(f"{sentence_id}  {record.text}\n")
    click.echo(_table(found))


def _table(found: Explanation) -> str:
    fields = [part.origin.name for part in found.terms[0].fields] if found.terms else []
    head = ["term", "weight", "p(t|C)", *(f"in {name}" for name in fields), "collection", "adds"]
    rows = [head]
    for part in found.terms:
        probability = "" if part.probability is None else f"{part.probability:.3g}"
        counts = [f"{f.count}/{f.length} {f.adds:+.4f}" for f in part.fields]
        rows.append(
            [
                part.origin.name + (f" ({', '.join(part.boosts)})" if part.boosts else ""),
                f"{part.weight:.4g}",
                probability,
                *counts,
                f"{part.background:+.4f}",
                f"{part.adds:+.4f}",
            ]
        )
    blank = [""] * (len(head) - 2)
    if found.length:
        rows.append(["length term", *blank, f"{found.length:+.4f}"])
    rows += [
        [f"prior {p.origin.name}", f"{p.weight:.4g}", f"{p.value:.4g}", *blank[2:], f"{p.adds:+.4f}"]
        for p in found.priors
    ]
    rows += [
        [f"feature {p.origin.name}", _weight(p), _value(p.value), *blank[2:], f"{p.adds:+.4f}"]
        for p in found.features
    ]
    rows += [
        [
            f"{p.origin.name} {p.origin.detail}",
            f"{p.weight:.4g}",
            _value(p.value),
            *blank[2:],
            f"{p.adds:+.4f}",
        ]
        for p in found.boosts
    ]
    if found.second is not None:
        stage = found.second
        rows.append(["first stage", f"{stage.weight:.4g}", *blank[1:], f"{stage.weight * found.first:+.4f}"])
        rows += [
            [f"signal {p.origin.name}", f"{p.weight:.4g}", _value(p.value), *blank[2:], f"{p.adds:+.4f}"]
            for p in stage.signals
        ]
        if stage.trees is not None:
            rows.append(["trees", *blank, f"{stage.trees:+.4f}"])
    rows.append(["score", *blank, f"{found.score:.4f}"])
    widths = [max(len(row[n]) for row in rows) for n in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    if found.boosted:
        lines.append(
            "Boosts: " + ", ".join(f"{name} {adds:+.4f}" for name, adds in found.boosted.items()) + "."
        )
    unseen = f"\nIn no document: {', '.join(found.unseen)}." if found.unseen else ""
    return "\n".join(lines) + unseen + (_second(found.second) if found.second else "")


def _second(stage: SecondPart) -> str:
    """The term sets that scored, and the tree they stand in."""
    if not stage.parsed:
        return "\nThe sentence has no parse."
    lines = []
    for part in stage.signals:
        for each in part.sets:
            kind = "" if isinstance(each, TermSet) else f" {each.potential}, height {each.height:g},"
            value = each.strength if isinstance(each, TermSet) else each.value
            lines.append(
                f"{part.origin.name}:{kind} {' + '.join(each.terms)}, distance {each.distance:g}: {value:.4f}"
            )
        if part.bounded:
            lines.append(f"{part.origin.name}: the sentence has more sets of query terms than are looked at")
    told = "".join(f"\n{line}" for line in lines)
    if stage.parse is None:
        return told
    return f"{told}\n\n{text_tree(stage.parse, stage.marked, stage.chosen).rstrip()}"


def _weight(part: FeaturePart) -> str:
    """A feature's form and its parameters, the weight first and without its name."""
    params = [f"{value:.4g}" if name == "w" else f"{name}={value:g}" for name, value in part.params.items()]
    return " ".join([part.adjustment.form, *params])


def _value(value: float | None) -> str:
    return "not known" if value is None else f"{value:.4g}"
