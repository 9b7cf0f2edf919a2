"""What readers take home: citations, feeds, and links to sentences that stay valid after a new load."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from flask import Flask, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Redirect

from esr.engines.index import SentenceRecord
from esr.errors import UsageError
from esr.following.atom import MEDIA_TYPE, Feed, render_feed
from esr.following.citations import CITATIONS, CitationFormat
from esr.following.identity import feed_urn, text_digest
from esr.following.newest import find_newest
from esr.ranking.answers import require_record
from esr.ranking.searcher import Searcher
from webui.answers.downloads import citations_file
from webui.arguments.links import Links
from webui.arguments.names import SEARCH_ARGUMENTS
from webui.arguments.query_check import check_query
from webui.arguments.query_string import decode_arguments
from webui.arguments.search_request import read_search
from webui.pages.results import listed_hits
from webui.running.request_errors import RequestError, UnknownId, blame_argument
from webui.running.settings import Settings

_ARRANGING = frozenset({"k", "sort", "group", "fold", "novel", "overlap", "facet"})
"""Arguments that make no other feed."""


def sentence_link(record: SentenceRecord, is_external: bool = False, index: str | None = None) -> str:
    """The address of a sentence: its document and its text, whatever its number is after a new load."""
    values = {"id": record.document_id, "says": text_digest(record.text), "index": index}
    query = urlencode({name: value for name, value in values.items() if value}, errors="replace")
    return f"{url_for('sentence', _external=is_external)}?{query}"


def install(app: Flask, searcher: Searcher, settings: Settings) -> None:
    """Add the addresses to the application."""
    app.jinja_env.globals.update(citation_formats=CITATIONS)
    app.jinja_env.filters["sentence_link"] = sentence_link
    for citation in CITATIONS.values():
        _add_citation(app, searcher, settings, citation)
    _add_sentence(app, searcher, settings)
    _add_feed(app, searcher, settings)


def _add_citation(app: Flask, searcher: Searcher, settings: Settings, citation: CitationFormat) -> None:
    def of_results() -> Response:
        hits, incomplete = listed_hits(searcher, read_search(request.query_string, settings), settings)
        return citations_file(citation, list(map(require_record, hits)), incomplete)

    def of_sentence() -> Response:
        return citations_file(citation, _read_sentence(searcher, settings))

    app.add_url_rule(f"/search.{citation.suffix}", f"results_{citation.name}", of_results)
    app.add_url_rule(f"/sentence.{citation.suffix}", f"sentence_{citation.name}", of_sentence)


def _read_sentence(searcher: Searcher, settings: Settings) -> Sequence[SentenceRecord]:
    arguments = decode_arguments(request.query_string, settings, [*SEARCH_ARGUMENTS, "id"])
    if "id" not in arguments:
        raise RequestError("the address has no id: add the id of a sentence", "id")
    try:
        return searcher.index.sentences(arguments["id"])
    except UsageError as error:
        raise UnknownId(f"there is no sentence {arguments['id'][0]!r}", "id") from error


def _add_sentence(app: Flask, searcher: Searcher, settings: Settings) -> None:
    @app.get("/sentence")
    def sentence() -> Redirect:
        """Leads to the sentence in its document; to the document, if that no longer has it."""
        arguments = decode_arguments(request.query_string, settings, ["id", "says", "index"])
        if "id" not in arguments or "says" not in arguments:
            raise RequestError("the address needs id and says: the id of a document and a digest", "id")
        document_id, digest = arguments["id"][0], arguments["says"][0]
        try:
            document = searcher.index.document(document_id)
        except UsageError as error:
            raise UnknownId(f"there is no document {document_id!r}", "id") from error
        places = [n for n, each in enumerate(document.sentences) if text_digest(each.text) == digest]
        index = arguments["index"][0] if "index" in arguments else None
        pairs = {"id": document_id, "index": index, "lost": None if places else "yes"}
        address = Links([(name, value) for name, value in pairs.items() if value]).to("document")
        return redirect(f"{address}#s{places[0]}" if places else address)


def _add_feed(app: Flask, searcher: Searcher, settings: Settings) -> None:
    @app.get("/search.atom")
    def results_atom() -> Response:
        """The newest sentences with all words, whatever the order of the page. Without a change: 304."""
        search = read_search(request.query_string, settings)
        snapshot = searcher.snapshot()
        check_query(snapshot, search.parsed, settings)
        with blame_argument(None):
            prepared = search.prepare(snapshot)
        answer = find_newest(prepared, search.k, search.filters)
        arguments = decode_arguments(request.query_string, settings)
        index = arguments["index"][0] if "index" in arguments else None
        page_url = url_for("results", _external=True) + "?" + request.query_string.decode()
        parts = [(name, value) for name, values in arguments.items() for value in values]
        urn = feed_urn(part for part in parts if part[0] not in _ARRANGING)
        feed = Feed(urn, f"{search.query} – esr", request.url, page_url)
        records = list(map(require_record, answer.hits))
        content = render_feed(feed, records, lambda record: sentence_link(record, True, index))
        response = Response(content, mimetype=MEDIA_TYPE)
        if not answer.incomplete:
            response.add_etag()
            response.make_conditional(request)
        return response
