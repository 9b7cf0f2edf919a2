"""The pages for results, a document, an explanation, a comparison and similar sentences, and their files.

Citations, feeds and links to sentences stay valid after a new load: they identify a sentence by its document
and a digest of its text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from urllib.parse import urlencode

from flask import Flask, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Redirect

from esr.errors import UsageError
from esr.following.citations import CITATIONS, CitationFormat, feed_urn, text_digest
from esr.following.novelty import find_newest
from esr.following.watch import MEDIA_TYPE, Feed, render_feed
from esr.index.hits import SentenceRecord
from esr.ranking.answers import require_record
from esr.ranking.reasons import describe_match
from esr.ranking.searcher import Searcher
from webui.answers import downloads
from webui.answers.downloads import citations_file
from webui.answers.explanations import (
    SHADES,
    Comparison,
    ScoredDocument,
    compare_rankings,
    explain_sentence,
    score_document,
)
from webui.answers.lists import find_for_request, rank_sentences
from webui.arguments.form import Links
from webui.arguments.query_string import (
    COMPARISON_ARGUMENTS,
    SEARCH_ARGUMENTS,
    SIMILAR_ARGUMENTS,
    VERSUS,
    decode_arguments,
)
from webui.arguments.rankings import BY_MEANING, parse_ranking, ranking_label
from webui.arguments.request import SearchRequest, check_query, parse_search, read_search
from webui.pages.bars import score_bars, tree_picture
from webui.pages.rendering import Highlighter, PageRenderer
from webui.pages.results import GROUP_SENTENCES, describe_hits, find_results, listed_hits
from webui.running.request_errors import RequestError, UnknownId, blame_argument
from webui.running.settings import Settings


def install_views(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    """Add results, documents, explanations and comparisons to the application."""
    _add_results(app, searcher, settings, render)
    _add_document(app, searcher, settings, render)
    _add_explanation(app, searcher, settings, render)
    _add_comparison(app, searcher, settings, render)


def read_search_and_id(settings: Settings) -> tuple[SearchRequest, str]:
    """The search of the current request, and the id of the document or sentence that it shows."""
    arguments = decode_arguments(request.query_string, settings, [*SEARCH_ARGUMENTS, "id", "lost"])
    if "id" not in arguments:
        raise RequestError("the address has no id: add the id of a document or a sentence", "id")
    return parse_search(arguments, settings), arguments["id"][0]


def query_terms(searcher: Searcher, search: SearchRequest) -> Collection[str]:
    """The terms of a query's own words; empty for an empty query."""
    with blame_argument("q"):
        return searcher.terms(search.parsed) if search.query else ()


def _add_results(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    @app.get("/search")
    def results() -> Response | Redirect:
        if redirection := render.redirect_form("results"):
            return redirection
        search = read_search(request.query_string, settings)
        page_results = find_results(searcher, search, settings)
        return render(
            "results.html",
            search=search,
            results=page_results,
            answer=page_results.answer,
            highlight=Highlighter(searcher.index.analyzer, page_results.terms),
            group_sentences=GROUP_SENTENCES,
        )

    @app.get("/search.csv")
    def results_csv() -> Response:
        search = read_search(request.query_string, settings)
        return downloads.sentences_csv(*listed_hits(searcher, search, settings))

    @app.get("/search.run")
    def results_run() -> Response:
        search = read_search(request.query_string, settings)
        answer = rank_sentences(searcher.snapshot(), search, search.k, settings).answer
        return downloads.sentences_run(answer.hits, answer.incomplete)


def _add_document(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    def read() -> tuple[SearchRequest, ScoredDocument]:
        search, document_id = read_search_and_id(settings)
        return search, score_document(searcher, document_id, search, settings)

    @app.get("/document")
    def document() -> Response:
        search, scored = read()
        highlight = Highlighter(searcher.index.analyzer, query_terms(searcher, search))
        return render("document.html", search=search, scored=scored, highlight=highlight, shades=SHADES)

    @app.get("/document.csv")
    def document_csv() -> Response:
        return downloads.document_csv(read()[1])


def _add_explanation(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    @app.get("/explain")
    def explain() -> Response:
        search, sentence_id = read_search_and_id(settings)
        explained = explain_sentence(searcher, search, sentence_id, settings)
        terms, analyzer = query_terms(searcher, search), searcher.index.analyzer
        return render(
            "explain.html",
            search=search,
            explained=explained,
            reason=terms and describe_match(explained.record, terms, analyzer),
            bars=score_bars(explained.explanation),
            picture=tree_picture(explained),
            highlight=Highlighter(analyzer, terms),
        )


def _add_comparison(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    def read() -> tuple[SearchRequest, Comparison]:
        arguments = decode_arguments(request.query_string, settings, COMPARISON_ARGUMENTS)
        search, versus = parse_search(arguments, settings), parse_ranking(arguments, VERSUS)
        return search, compare_rankings(searcher, search, versus, settings)

    @app.get("/compare")
    def compare() -> Response | Redirect:
        if redirection := render.redirect_form("compare"):
            return redirection
        search, comparison = read()
        terms, analyzer = query_terms(searcher, search), searcher.index.analyzer
        hits = [compared.hit for side in (comparison.left, comparison.right) for compared in side.hits]
        return render(
            "compare.html",
            search=search,
            comparison=comparison,
            highlight=Highlighter(analyzer, terms),
            reasons=describe_hits(hits, terms, analyzer),
            labels=[ranking_label(search.ranking), ranking_label(comparison.right.ranking)],
        )

    @app.get("/compare.csv")
    def compare_csv() -> Response:
        return downloads.comparison_csv(read()[1])


def install_similar(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    """Add the page "More like this": sentences that say the same as one, or go on from it."""

    @app.get("/similar")
    def similar() -> Response:
        arguments = decode_arguments(
            request.query_string, settings, [*SEARCH_ARGUMENTS, *SIMILAR_ARGUMENTS, "id"]
        )
        found = find_for_request(searcher, arguments, settings)
        return render(
            "similar.html",
            found=found,
            search=found.search,
            by_meaning=BY_MEANING,
            highlight=Highlighter(searcher.index.analyzer, found.terms),
        )


_ARRANGING = frozenset({"k", "sort", "group", "fold", "novel", "overlap", "facet"})
"""Arguments that do not distinguish feeds."""


def sentence_link(record: SentenceRecord, is_external: bool = False, index: str | None = None) -> str:
    """The address of a sentence, by its document and a digest of its text: a new load may renumber it."""
    values = {"id": record.document_id, "says": text_digest(record.text), "index": index}
    query = urlencode({name: value for name, value in values.items() if value}, errors="replace")
    return f"{url_for('sentence', _external=is_external)}?{query}"


def install_taking_home(app: Flask, searcher: Searcher, settings: Settings) -> None:
    """Add citations, links to sentences and feeds to the application."""
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
        """Redirect to the sentence in its document, or to the document if it no longer has the sentence."""
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
        """The newest sentences with all words, whatever the order of the page; 304 if nothing has changed."""
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
