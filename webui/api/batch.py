"""`batch`: several queries at once, answered as JSON, as a TREC run or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from flask import Response

from esr.engines.index import Filters
from esr.errors import UsageError
from esr.evaluation import runs
from esr.ranking import answers
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Answer
from webui import arguments
from webui.api import body
from webui.api.answering import json_answer
from webui.api.operation import Call
from webui.errors import problem, shape
from webui.rates import charge
from webui.terms import check_terms

RUN, CSV = "text/plain", "text/csv"
FORMATS = {"json": "application/json", "run": RUN, "csv": CSV}
COLUMNS = ("id", "rank", "score", "sentence_id", "document_id", "date", "source", "url", "title", "text")
SKIPPED = "X-Skipped"
"""The header that names the queries without lines in a run or in CSV, as they cannot be searched for."""
Found = dict[str, Answer | UsageError]


def batch(call: Call) -> Response:
    asked = body.read(call.settings)
    charge(len(asked["queries"]) - 1)
    ids = [each["id"] for each in asked["queries"]]
    if len(set(ids)) < len(ids):
        raise arguments.BadArgument("two queries have the same id: give each its own", "queries")
    ranking = _ranking(call, asked.get("ranking", {}))
    found = _answers(call, asked, ranking, _filters(call, asked.get("filters", {})))
    form = asked.get("format", "json")
    if form == "json":
        return json_answer({"answers": [_as_dict(name, answer) for name, answer in found.items()]})
    text = _run(found, asked.get("tag", "esr")) if form == "run" else _csv(found)
    response = Response(text.encode("utf-8", "replace"), content_type=f"{FORMATS[form]}; charset=utf-8")
    response.headers[SKIPPED] = ", ".join(name for name, a in found.items() if isinstance(a, UsageError))
    return response


def _ranking(call: Call, data: dict[str, Any]) -> Ranking:
    with arguments.blaming("ranking"):
        made = Ranking.from_dict(data)
        call.searcher.check_features(each.feature for each in made.features)
    return made


def _filters(call: Call, data: dict[str, Any]) -> Filters:
    """The filters of a body: those of an address, with lists for those that may be given more than once."""
    values = {name: [given] if isinstance(given, str) else given for name, given in data.items()}
    for name, given in values.items():
        for text in given:
            arguments.check_text(name, text, call.settings.value_chars)
    return arguments.filters({name: given for name, given in values.items() if given})


def _answers(call: Call, asked: dict[str, Any], ranking: Ranking, filters: Filters) -> Found:
    """By id. What is wrong with one query is its answer; what is wrong with all of them is raised."""
    now = call.searcher.now()
    k = asked.get("k", call.settings.default_k)
    found: Found = {}
    for place, each in enumerate(asked["queries"]):
        field = f"queries.{place}.query"
        try:
            arguments.check_text("q", each["query"], call.settings.query_chars)
            check_terms(now, each["query"], call.settings, field)
        except UsageError as error:
            found[each["id"]] = arguments.BadArgument(str(error), field)
            continue
        records = asked.get("format") != "run"
        with arguments.blaming(None):
            found[each["id"]] = now.search(
                each["query"], k, ranking=ranking, filters=filters, records=records
            )
    return found


def _as_dict(name: str, answer: Answer | UsageError) -> dict[str, Any]:
    if isinstance(answer, UsageError):
        return {"id": name, "error": shape(problem(answer))}
    return {"id": name, **answers.answer_dict(answer)}


def _run(found: Found, tag: str) -> str:
    return "".join(
        line
        for name, answer in found.items()
        if not isinstance(answer, UsageError)
        for line in runs.lines(name, answer.hits, tag)
    )


def _csv(found: Found) -> str:
    out = io.StringIO()
    lines = csv.writer(out)
    lines.writerow(COLUMNS)
    for name, answer in found.items():
        if not isinstance(answer, UsageError):
            lines.writerows(_rows(name, answer))
    return out.getvalue()


def _rows(name: str, answer: Answer) -> Iterator[list[Any]]:
    for rank, hit in enumerate(answer.hits, 1):
        shown = answers.hit_dict(hit) | {"id": name, "rank": rank}
        yield [shown[column] for column in COLUMNS]
