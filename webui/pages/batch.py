"""The page for many queries at once: pasted or uploaded, answered with a table or a run file.

A file that cannot mark what is missing from it is sent only after the user has accepted this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import Flask, Response, request

from esr.arguments.types import parse_whole
from esr.errors import EsrError, InputError, UsageError
from esr.topics.lines import Line
from esr.topics.topic import TITLE, Topic
from esr.topics.topic_files import parse_topics
from webui.answers import downloads
from webui.answers.downloads import NOTHING
from webui.answers.lists import answer_queries
from webui.arguments.request import SearchRequest, read_search
from webui.pages.rendering import PageRenderer
from webui.running.problems import (
    Problem,
    RequestError,
    blame_argument,
    problem_response,
    wants_json,
)
from webui.running.rate_limit import count_queries
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import N_, as_sentence

QUERIES, FILE, FORMAT, K, ACCEPT = "queries", "file", "as", "k", "anyhow"
"""The fields of the form."""
FORMATS = {"csv": N_("CSV, for tables"), "run": N_("TREC run, for evaluation")}
DEFAULT_K = 100
"""Sentences for each query, unless the form says otherwise."""
_ID_CHARS = 40  # maximum length of a query's id in a message
_TOPIC_FILE_STARTS = ("{", "<")


class Unconfirmed(EsrError):
    """The file cannot mark what is missing from it, and the user has not accepted this."""

    def __init__(self, missing: Mapping[str, str], skipped: Mapping[str, str]) -> None:
        """By query id: what is `missing` from its answer, and why it was `skipped`."""
        reasons = "; ".join(f"query {topic!r}: {reason}" for topic, reason in {**skipped, **missing}.items())
        super().__init__(f"the file would not show what is missing ({reasons}): accept it with {ACCEPT}=yes")
        self.missing = missing
        self.skipped = skipped
        self.status = 503 if missing else 400


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page to the application. Its address has ranking and filters, as that of a search has."""

    def form(
        visit: Visit,
        message: str | None = None,
        missing: Mapping[str, str] = NOTHING,
        skipped: Mapping[str, str] = NOTHING,
    ) -> Response:
        fields = {name: request.form.get(name, "") for name in (QUERIES, FORMAT, K)}
        if missing or skipped:
            # Browsers do not submit a file again, so the text of an uploaded file is put into the form.
            fields[QUERIES] = _read_text()[0]
        return render(
            visit,
            "batch.html",
            fields=fields,
            message=message,
            missing=missing,
            skipped=skipped,
            formats=FORMATS,
            default_k=DEFAULT_K,
        )

    @indexes.route(app, "/batch")
    def batch(visit: Visit) -> Response:
        read_search(request.query_string, settings)
        return form(visit)

    @indexes.route(app, "/batch", method="POST", seconds=settings.batch_deadline)
    def batch_answer(visit: Visit) -> Response:
        try:
            return _answer(visit, settings)
        except Unconfirmed as error:
            if wants_json():
                problem = Problem(error.status, "unconfirmed", "", as_sentence(str(error)))
                response = problem_response(problem)
            else:
                response = form(visit, missing=error.missing, skipped=error.skipped)
            response.status_code = error.status
            return response
        except UsageError as error:
            if wants_json():
                raise
            response = form(visit, as_sentence(visit.redact(str(error))))
            response.status_code = 400
            return response


def parse_queries(text: str, where: str) -> list[Topic]:
    """The queries of a text: a topic file, or one query per line, numbered from 1. Raises RequestError."""
    lines = [Line(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise RequestError("there is no query: write one on each line", QUERIES)
    is_topic_file = lines[0].text.lstrip().startswith(_TOPIC_FILE_STARTS)
    if is_topic_file or any("\t" in line.text for line in lines):
        try:
            return parse_topics(where, lines)
        except InputError as error:
            raise RequestError(str(error), QUERIES) from error
    return [Topic(str(n), {TITLE: line.text.strip()}) for n, line in enumerate(lines, 1)]


def _answer(visit: Visit, settings: Settings) -> Response:
    search = read_search(request.query_string, settings)
    format, count = request.form.get(FORMAT, "csv"), request.form.get(K, "").strip()
    if format not in FORMATS:
        raise RequestError(f"cannot answer as {format[:_ID_CHARS]!r}: choose csv or run", FORMAT)
    most = settings.batch_k
    with blame_argument(K):
        k = parse_whole(K, count, 1, most) if count else min(DEFAULT_K, most)
    queries = parse_queries(*_read_text())
    if len(queries) > settings.batch_queries:
        raise RequestError(
            f"there are {len(queries):,} queries: at most {settings.batch_queries:,} are allowed", QUERIES
        )
    count_queries(len(queries))
    texts, untitled = _read_texts(queries)
    answers, skipped = answer_queries(
        visit.searcher, _for_each_query(search), texts, k, settings, visit.redact, records=format != "run"
    )
    skipped |= untitled
    if not answers:
        topic_id, reason = next(iter(skipped.items()))
        raise RequestError(f"query {topic_id[:_ID_CHARS]!r}: {reason}", QUERIES)
    missing = {topic: answer.incomplete for topic, answer in answers.items() if answer.incomplete}
    unseen = skipped if format == "run" else NOTHING  # a table has a line for each skipped query
    if (missing or unseen) and ACCEPT not in request.form:
        raise Unconfirmed(missing, unseen)
    if format == "run":
        return downloads.queries_run(answers, skipped=skipped)
    return downloads.queries_csv({topic.id: texts.get(topic.id, "") for topic in queries}, answers, skipped)


def _read_texts(queries: Sequence[Topic]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts to search for by topic, and why the other topics have none."""
    texts: dict[str, str] = {}
    untitled: dict[str, str] = {}
    for topic in queries:
        try:
            texts[topic.id] = topic.query()
        except UsageError as error:
            untitled[topic.id] = str(error)
    return texts, untitled


def _for_each_query(search: SearchRequest) -> SearchRequest:
    """The part of a search that all queries share, so that they are ranked as by `esr run`."""
    return SearchRequest(
        "",
        search.ranking,
        search.filters,
        is_literal=search.is_literal,
        require_all=search.require_all,
        with_furniture=True,
        query_language=search.query_language,
        languages=search.languages,
    )


def _read_text() -> tuple[str, str]:
    """The uploaded or else the pasted text, and its name in messages. Raises RequestError."""
    upload = request.files.get(FILE)
    if upload is None or not upload.filename:
        return request.form.get(QUERIES, ""), "the queries"
    try:
        upload.stream.seek(0)
        return upload.read().decode("utf-8-sig"), "the file"
    except UnicodeDecodeError:
        raise RequestError("the file is not UTF-8 text: save it as UTF-8", FILE) from None
