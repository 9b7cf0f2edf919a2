"""`esr explain` shows why a sentence has its score; `esr query` prints the Elasticsearch request of a query,
for other applications.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

import esr
from esr.cli import options
from esr.cli.ranking_options import ReadQuery, filter_options, query_argument, ranking_options
from esr.dependency.drawing import text_tree
from esr.dependency.explanation import TermSet
from esr.index.filters import Filters
from esr.json_text import replace_nonfinite
from esr.ranking.explain import Explanation, FeaturePart, SecondPart
from esr.ranking.explain import explain as explain_sentence
from esr.ranking.furniture import lower_furniture
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import can_rescore, raw_request


@click.command()
@query_argument
@click.argument("sentence_id")
@options.index
@ranking_options
@options.furniture
@options.as_json
def explain(
    query: ReadQuery, sentence_id: str, where: str, ranking: Ranking, with_furniture: bool, as_json: bool
) -> None:
    """Show the parts of a sentence's score, which add up to it.

    \b
    Example:
      esr explain "earthquake relief China" NA-12.s3 --index my-index
    """
    with esr.open(where) as searcher:
        snapshot = searcher.snapshot()
        ranking = ranking if with_furniture else lower_furniture(ranking, snapshot.index)
        prepared = snapshot.prepare(query.parsed, ranking, require_all=query.require_all)
        explanation = explain_sentence(prepared, sentence_id)
        (record,) = prepared.index.sentences([sentence_id])
    if as_json:
        click.echo(json.dumps(replace_nonfinite(explanation.as_dict()), indent=1))
        return
    click.echo(f"{sentence_id}  {record.text}\n")
    click.echo(_format(explanation))


def _format(explanation: Explanation) -> str:
    rows = [_head(explanation), *_term_rows(explanation)]
    blank = [""] * (len(rows[0]) - 2)
    if explanation.length:
        rows.append(["length term", *blank, f"{explanation.length:+.4f}"])
    parts = [
        *(
            (f"prior {p.origin.name}", f"{p.weight:.4g}", f"{p.value:.4g}", p.adds)
            for p in explanation.priors
        ),
        *(
            (f"feature {p.origin.name}", _format_form(p), _format_value(p.value), p.adds)
            for p in explanation.features
        ),
        *(
            (f"{p.origin.name} {p.origin.detail}", f"{p.weight:.4g}", _format_value(p.value), p.adds)
            for p in explanation.boosts
        ),
    ]
    stage, notes = explanation.second, list[str]()
    if stage is not None:
        parts.append(("first stage", f"{stage.weight:.4g}", "", stage.weight * explanation.first))
        for p in stage.signals:
            parts.append((f"signal {p.origin.name}", f"{p.weight:.4g}", _format_value(p.value), p.adds))
            notes += [f"{p.origin.name}: {_format_parts(p.parts)}"] * bool(p.parts)
    rows += [[name, weight, value, *blank[2:], f"{adds:+.4f}"] for name, weight, value, adds in parts]
    if stage is not None and stage.trees is not None:
        rows.append(["trees", *blank, f"{stage.trees:+.4f}"])
    rows.append(["score", *blank, f"{explanation.score:.4f}"])
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += notes
    if explanation.boosted:
        boosts = ", ".join(f"{name} {adds:+.4f}" for name, adds in explanation.boosted.items())
        lines.append(f"Boosts: {boosts}.")
    unseen = f"\nIn no document: {', '.join(explanation.unseen)}." if explanation.unseen else ""
    return "\n".join(lines) + unseen + (_format_second_stage(stage) if stage else "")


def _head(explanation: Explanation) -> list[str]:
    fields = [part.origin.name for part in explanation.terms[0].fields] if explanation.terms else []
    return ["term", "weight", "p(t|C)", *(f"in {name}" for name in fields), "collection", "adds"]


def _term_rows(explanation: Explanation) -> list[list[str]]:
    return [
        [
            part.origin.name + (f" ({', '.join(part.boosts)})" if part.boosts else ""),
            f"{part.weight:.4g}",
            "" if part.probability is None else f"{part.probability:.3g}",
            *(f"{f.count}/{f.length} {f.adds:+.4f}" for f in part.fields),
            f"{part.background:+.4f}",
            f"{part.adds:+.4f}",
        ]
        for part in explanation.terms
    ]


def _format_second_stage(stage: SecondPart) -> str:
    """The sets of terms that scored, and the parse tree that contains them."""
    if stage.lacks_parse:
        return "\nThe sentence has no parse."
    lines = []
    for part in stage.signals:
        for s in part.sets:
            kind = "" if isinstance(s, TermSet) else f" {s.potential}, height {s.height:g},"
            value = s.strength if isinstance(s, TermSet) else s.value
            terms = " + ".join(s.terms)
            lines.append(f"{part.origin.name}:{kind} {terms}, distance {s.distance:g}: {value:.4f}")
        if part.bounded:
            lines.append(f"{part.origin.name}: not all sets of query terms were scored, there are too many")
    text = "".join(f"\n{line}" for line in lines)
    if stage.parse is None:
        return text
    return f"{text}\n\n{text_tree(stage.parse, stage.marked, stage.chosen).rstrip()}"


def _format_parts(parts: Mapping[str, float]) -> str:
    """The addends of a signal's value."""
    return ", ".join(f"{name} {value:+.4f}" for name, value in parts.items())


def _format_form(part: FeaturePart) -> str:
    """A feature's form and its parameters: the weight first, without its name."""
    params = [f"{value:.4g}" if name == "w" else f"{name}={value:g}" for name, value in part.params.items()]
    return " ".join([part.adjustment.form, *params])


def _format_value(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"


# esr query


@click.command()
@query_argument
@options.index
@ranking_options
@filter_options
@click.option(
    "-k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Number of sentences."
)
@click.option(
    "--standalone",
    is_flag=True,
    help="Let Elasticsearch compute p(t|C), so that the terms can be changed. Language models only.",
)
def query(query: ReadQuery, where: str, ranking: Ranking, filters: Filters, k: int, standalone: bool) -> None:
    """Print the request for a query, which any application can send to the alias's _search.

    \b
    Example:
      esr query "bank fraud" --index http://localhost:9200/news > request.json
      curl -H 'Content-Type: application/json' -d @request.json 'http://localhost:9200/news/_search'
    With --standalone, send it to '_search?search_type=dfs_query_then_fetch'. The second stage of --ranking
    hybrid is part of the request, with the vector of the query in it: each shard rescores its best
    sentences by words. Only esr itself adds the sentences that only vectors find, and computes other second
    stages (--rerank with another signal, with neighbours or document, and those of tdsr and the mrf models):
    then the request is the first stage. Terms that boosts add are computed now and are part of the request;
    those of feedback change with the collection.
    """
    with esr.open(where) as searcher:
        prepared = searcher.prepare(query.parsed, ranking, require_all=query.require_all)
        body = raw_request(prepared, k, filters=filters, standalone=standalone)
    if can_rescore(ranking):
        click.echo("esr: the request lacks what only vectors find; esr itself adds it", err=True)
    elif ranking.reranker() is not None:
        click.echo("esr: the request is the first stage only; esr itself computes the second", err=True)
    click.echo(json.dumps(body, indent=1, ensure_ascii=False))
