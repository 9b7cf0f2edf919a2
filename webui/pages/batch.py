"""Many queries at once: pasted or uploaded, answered by a table or a run file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Flask, Response, g, request

from esr.errors import EsrError, InputError, UsageError
from esr.evaluation import topics
from esr.evaluation.files import Line
from esr.evaluation.topic import TITLE, Topic
from esr.ranking.searcher import Answer, Searcher
from webui.answers import downloads
from webui.arguments import search_request as arguments
from webui.arguments.search_request import BadArgument, Search
from webui.pages.renderer import Pages
from webui.pages.results import answer
from webui.running import problems as errors
from webui.running.rate_limit import charge
from webui.running.settings import Settings

PASTED, FILE, FORM, MOST, ANYHOW = "queries", "file", "as", "k", "anyhow"
"""The fields of the form. `anyhow`: the file is wanted even if answers lack something."""
FORMS = {"csv": "CSV, for tables", "run": "TREC run, for evaluation"}
USUAL = 100
"""Sentences a query, unless the form says otherwise."""
_WRITTEN = ("{", "<")


class Lacking(EsrError):
    """Answers lack something, and nobody has said that they are wanted all the same."""

    def __init__(self, found: Mapping[str, str]) -> None:
        """`found` tells by query what is missing."""
        super().__init__("answers are not complete")
        self.found = found


def install(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    """Add the page to the application. Its address holds the ranking and the filters, as that of a search."""

    def form(trouble: str | None = None, **more: Any) -> Response:
        given = {name: request.form.get(name, "") for name in (PASTED, FORM, MOST)} | more
        return page("batch.html", given=given, trouble=trouble, forms=FORMS, usual=USUAL)

    @app.get("/batch")
    def batch() -> Response:
        arguments.read(request.query_string, limits)
        return form()

    @app.post("/batch")
    def batch_answer() -> Response:
        g.seconds = limits.batch_deadline
        try:
            return _answer(searcher, limits)
        except Lacking as lacking:
            # Once more with what was read: a browser does not send a chosen file again.
            response = form(lacking=lacking.found, **{PASTED: _text()[0]})
            response.status_code = 503
            return response
        except UsageError as error:
            response = form(errors.sentence(str(error)))
            response.status_code = 400
            return response


def read(text: str, where: str) -> list[Topic]:
    """The queries of a text: a topic file, or one query a line, numbered from 1. Raises UsageError."""
    lines = [Line(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise BadArgument("there is no query: give one a line", PASTED)
    written = lines[0].text.lstrip().startswith(_WRITTEN)
    if written or any("\t" in line.text for line in lines):
        try:
            return topics.parse(where, lines)
        except InputError as error:
            raise BadArgument(str(error), PASTED) from error
    return [Topic(str(n), {TITLE: line.text.strip()}) for n, line in enumerate(lines, 1)]


def _answer(searcher: Searcher, limits: Settings) -> Response:
    asked = arguments.read(request.query_string, limits)
    form, most = request.form.get(FORM, "csv"), request.form.get(MOST, "").strip() or None
    if form not in FORMS:
        raise BadArgument("the answer is csv or run", FORM)
    k = arguments.count(MOST, most, min(USUAL, limits.batch_k), limits.batch_k)
    given = read(*_text())
    if len(given) > limits.batch_queries:
        raise BadArgument(
            f"there are {len(given):,} queries: at most {limits.batch_queries:,} are allowed", PASTED
        )
    charge(len(given) - 1)
    found = _search(searcher, asked, given, k, limits)
    lacking = {topic: each.incomplete for topic, each in found.items() if each.incomplete}
    if lacking and ANYHOW not in request.form:
        raise Lacking(lacking)
    if form == "run":
        return downloads.as_runs(found, downloads.TAG + downloads.MARK if lacking else downloads.TAG)
    return downloads.as_batch({topic.id: topic.query() for topic in given}, found)


def _search(
    searcher: Searcher, asked: Search, given: Sequence[Topic], k: int, limits: Settings
) -> Mapping[str, Answer]:
    """By topic. What is wrong with one query names it: half an answer would go unseen in a file."""
    now = searcher.snapshot()
    found: dict[str, Answer] = {}
    for topic in given:
        try:
            query = topic.query()
            arguments.check_text("q", query, limits.query_chars)
            found[topic.id] = answer(now, Search(query, asked.ranking, asked.filters), k, limits)[0]
        except UsageError as error:
            raise BadArgument(f"query {topic.id[:40]!r}: {error}", PASTED) from error
    return found


def _text() -> tuple[str, str]:
    """What was uploaded, or else pasted, and where it comes from. Raises UsageError."""
    sent = request.files.get(FILE)
    if sent is None or not sent.filename:
        return request.form.get(PASTED, ""), "the queries"
    try:
        sent.stream.seek(0)
        return sent.read().decode("utf-8-sig"), "the file"
    except UnicodeDecodeError:
        raise BadArgument("the file is not UTF-8 text", FILE) from None
