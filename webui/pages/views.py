"""The pages for results, a document, an explanation, a comparison and similar sentences, and their files.

Citations, feeds and links remain valid after a new load: they identify a sentence by its document and a
digest of its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from flask import Flask, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Redirect

from esr.arguments.operations import ABOUT_NAMES, WORDS
from esr.arguments.tables.rankings import VERSUS
from esr.arguments.tables.table import PAGE, names_of, rows
from esr.arguments.types import ALL
from esr.corpus.names_and_quotes import ListedName, Selection, list_names
from esr.errors import EsrError
from esr.following.alerts.atom import MEDIA_TYPE, Feed, feed_urn, render_feed, text_digest
from esr.following.citation_styles import quote_inside
from esr.following.copies import read_copies
from esr.following.exports import (
    CITATIONS,
    EXPORTS,
    FIELDS,
    RANK,
    CitationFormat,
    Cited,
    ExportFormat,
    Row,
)
from esr.following.newest import find_newest
from esr.index.contract import read_document
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.index.questions import Records
from esr.query import literal
from esr.ranking.answers import COLUMNS, count_matches, require_record, single
from esr.ranking.searcher import Searcher
from esr.stdlib import batched
from esr.text.document import Document
from esr.wording import LONG_TITLE_CHARS, shorten_title
from webui.answers import downloads, explanations
from webui.answers.articles import find_headings, shorten_heading
from webui.answers.downloads import citations_file, export_file
from webui.answers.hit_writer import HitWriter, sentence_link
from webui.answers.lists import Listing, list_hits, rank_sentences
from webui.answers.similar_sentences import find_similar
from webui.arguments.links import Links
from webui.arguments.rankings import BY_MEANING, parse_ranking, ranking_label
from webui.arguments.request import (
    HitShape,
    SearchRequest,
    check_query,
    decode_arguments,
    parse_search,
    parse_similar,
    read_search,
)
from webui.pages.browser_storage import MOST_KNOWN, add_clippings, add_saved_searches
from webui.pages.rendering import Highlighter, PageRenderer
from webui.pages.results import GROUP_SENTENCES, find_results
from webui.pages.score_pictures import score_bars, tree_picture
from webui.pages.timeline import draw_chart
from webui.pages.wording import describe_hits, name_language, write_match
from webui.running.problems import RequestError, blame_argument, look_up
from webui.running.served_indexes import Route, ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import N_

OTHER_EXPORTS = {
    "search_json": "JSON",
    "results_run": "TREC run",
    "results_atom": N_("Feed of the newest (Atom)"),
    "results_watch": N_("Lines for esr watch"),
}
"""Exports of results other than files: routes and labels."""


_VIEWS = f"{WORDS} {ABOUT_NAMES} timeline quotes".split()
_NOT_OF_SEARCHES = (*names_of("arrangement"), *(rows(*_VIEWS).keys() - PAGE.keys() - {"speaker"}))
"""The arguments that a saved search leaves out: how its sentences are arranged, and those of views of it."""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the pages of this module, their files, and their template functions to the application."""
    get = partial(indexes.route, app)
    for add in (
        _add_results,
        _add_document,
        _add_explanation,
        _add_comparison,
        _add_similar,
        add_saved_searches,
    ):
        add(get, settings, render)
    _add_sentence(get, settings)
    _add_feed(get, settings)
    for citation in CITATIONS.values():
        _add_citation(get, settings, citation)
    for format in EXPORTS.values():
        _add_export(get, settings, format)
        add_clippings(get, format)
    known = {"export_formats": EXPORTS, "export_columns": FIELDS, "usual_columns": COLUMNS}
    app.jinja_env.globals.update(
        citation_formats=CITATIONS,
        exports=OTHER_EXPORTS,
        not_of_searches=" ".join(_NOT_OF_SEARCHES),
        most_known=min(MOST_KNOWN, settings.max_k),
        most_exported=settings.export_k,
        **known,
    )
    app.jinja_env.filters.update(
        quote_inside=quote_inside, sentence_link=sentence_link, language_name=name_language
    )


def read_search_and_id(settings: Settings, taker: str) -> tuple[SearchRequest, str]:
    """The search of the current request, and the id of the document or sentence that it shows."""
    arguments = decode_arguments(request.query_string, settings, taker, "page", "shown")
    return parse_search(arguments), arguments.first("id")


def _add_results(get: Route, settings: Settings, render: PageRenderer) -> None:
    @get("/search")
    def results(visit: Visit) -> Redirect:
        if redirection := render.redirect_form("results"):
            return redirection
        search = read_search(request.query_string, settings)
        page_results = find_results(visit.searcher, search, settings)
        return render(
            visit,
            "results.html",
            searched=page_results.search.query,
            unknown=page_results.unknown,
            search=page_results.search,
            results=page_results,
            answer=page_results.answer,
            chart=page_results.dates and draw_chart(page_results.dates.timeline, "count"),
            highlight=Highlighter(page_results.analyzer, page_results.terms),
            group_sentences=GROUP_SENTENCES,
        )

    @get("/search.run")
    def results_run(visit: Visit) -> Response:
        search = read_search(request.query_string, settings)
        answer = rank_sentences(visit.searcher.snapshot(), search, search.k, settings).answer
        return downloads.sentences_run(answer.hits, answer.incomplete)


def _add_document(get: Route, settings: Settings, render: PageRenderer) -> None:
    def read(visit: Visit) -> tuple[SearchRequest, explanations.ScoredDocument]:
        search, document_id = read_search_and_id(settings, "document")
        return search, explanations.score_document(visit.searcher, document_id, search, settings)

    @get("/document")
    def document(visit: Visit) -> Response:
        search, scored = read(visit)
        highlight = Highlighter(*search.own_terms(visit.searcher))
        first = scored.sentences[0].text if scored.sentences else scored.document.id
        snapshot = visit.searcher.snapshot()
        similar = find_similar_articles(snapshot, scored.document)
        return render(
            visit,
            "document.html",
            search=search,
            scored=scored,
            heading=shorten_title(scored.document.title or "", LONG_TITLE_CHARS) or shorten_heading(first),
            highlight=highlight,
            shades=explanations.SHADES,
            names=list_article_names(snapshot, scored.document),
            similar=similar,
            copies=read_copies(snapshot.index, [sentence.sentence_id for sentence in scored.sentences]),
            headings=find_headings(snapshot.index, similar),
        )

    @get("/document.csv")
    def document_csv(visit: Visit) -> Response:
        return downloads.document_csv(read(visit)[1])


def _add_explanation(get: Route, settings: Settings, render: PageRenderer) -> None:
    @get("/explain")
    def explain(visit: Visit) -> Response:
        search, sentence_id = read_search_and_id(settings, "explain")
        explained = explanations.explain_sentence(visit.searcher, search, sentence_id, settings)
        analyzer, words = search.own_words(visit.searcher)
        return render(
            visit,
            "explain.html",
            search=search,
            explained=explained,
            headings=find_headings(visit.searcher.index, [explained.record]),
            reason=words and write_match(count_matches(explained.record, words, analyzer)),
            bars=score_bars(explained.explanation),
            picture=tree_picture(explained),
            highlight=Highlighter(analyzer, chain.from_iterable(words)),
        )


def _add_comparison(get: Route, settings: Settings, render: PageRenderer) -> None:
    def read(visit: Visit) -> tuple[SearchRequest, explanations.Comparison]:
        arguments = decode_arguments(request.query_string, settings, "page", "compare")
        search, versus = parse_search(arguments), parse_ranking(arguments, VERSUS)
        return search, explanations.compare_rankings(visit.searcher, search, versus, settings)

    @get("/compare")
    def compare(visit: Visit) -> Redirect:
        if redirection := render.redirect_form("compare"):
            return redirection
        search, comparison = read(visit)
        analyzer, words = search.own_words(visit.searcher)
        hits = [compared.hit for side in (comparison.left, comparison.right) for compared in side.hits]
        return render(
            visit,
            "compare.html",
            search=search,
            comparison=comparison,
            highlight=Highlighter(analyzer, chain.from_iterable(words)),
            reasons=describe_hits(hits, words, analyzer),
            headings=find_headings(visit.searcher.index, map(require_record, hits)),
            labels=[ranking_label(comparison.left.ranking), ranking_label(comparison.right.ranking)],
        )

    @get("/compare.csv")
    def compare_csv(visit: Visit) -> Response:
        return downloads.comparison_csv(read(visit)[1])


def _add_similar(get: Route, settings: Settings, render: PageRenderer) -> None:
    """Add the page "More like this": sentences that say the same as one, or continue it."""

    @get("/similar")
    def similar(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "similar", "page")
        result = find_similar(visit.searcher, parse_similar(arguments))
        return render(
            visit,
            "similar.html",
            found=result,
            search=result.search,
            headings=find_headings(result.index, [result.record, *map(require_record, result.answer.hits)]),
            by_meaning=BY_MEANING,
            highlight=Highlighter(result.index.analyzer, result.terms),
        )


def _add_citation(get: Route, settings: Settings, citation: CitationFormat) -> None:
    @get(f"/sentence.{citation.suffix}", f"sentence_{citation.name}")
    def cite_sentence(visit: Visit) -> Response:
        return citations_file(citation, _read_sentence(visit, settings))


def _read_sentence(visit: Visit, settings: Settings) -> Sequence[Cited]:
    arguments = decode_arguments(request.query_string, settings, "explain", "page")
    with look_up("sentence", arguments["id"][0]):
        records = visit.searcher.index.read(arguments["id"], Records())
    name = arguments.first("index")
    return [Cited(record, permalink=sentence_link(record, True, name)) for record in records]


def _add_sentence(get: Route, settings: Settings) -> None:
    @get("/sentence")
    def sentence(visit: Visit) -> Redirect:
        """Redirect to the sentence in its document, or to the document if the sentence is gone."""
        arguments = decode_arguments(request.query_string, settings, "sentence")
        document_id, digest = arguments.first("id"), arguments.first("says")
        with look_up("document", document_id):
            document = read_document(visit.searcher.index, document_id)
        places = [
            n for n, candidate in enumerate(document.sentences) if text_digest(candidate.text) == digest
        ]
        pairs = {"id": document_id, "index": arguments.first("index"), "lost": None if places else "yes"}
        address = Links([(name, value) for name, value in pairs.items() if value]).to("document")
        return redirect(f"{address}#s{places[0]}" if places else address)


def _add_feed(get: Route, settings: Settings) -> None:
    @get("/search.atom")
    def results_atom(visit: Visit) -> Response:
        """An Atom feed of the newest sentences with all words; 304 if nothing has changed."""
        arguments = decode_arguments(request.query_string, settings, "page")
        search = parse_search(arguments)
        snapshot = visit.searcher.snapshot()
        check_query(snapshot, search.parsed, settings)
        with blame_argument(None):
            prepared = search.prepare(snapshot)
        answer = find_newest(prepared, search.k, search.filters)
        page_url = url_for("results", _external=True) + "?" + request.query_string.decode()
        urn = feed_urn(pair for pair in arguments.pairs if pair[0] not in names_of("arrangement"))
        feed = Feed(urn, f"{search.query} – esr", request.url, page_url)
        records = list(map(require_record, answer.hits))
        content = render_feed(
            feed, records, lambda record: sentence_link(record, True, arguments.first("index"))
        )
        response = Response(content, mimetype=MEDIA_TYPE)
        if not answer.incomplete:
            response.add_etag()
            response.make_conditional(request)
        return response


NAMES, SIMILAR = 16, 5
"""Maximum numbers of names and articles to list."""
_READ = 60
"""Number of best sentences for the title, from whose articles the similar ones are taken."""


def list_article_names(searcher: Searcher, document: Document) -> list[ListedName]:
    """The most frequent names of a document; empty if the engine does not answer."""
    try:
        return list_names(Selection(searcher.index, Filters(documents=(document.id,)), None), k=NAMES)
    except EsrError:  # a page without a part is better than an error
        return []


def find_similar_articles(searcher: Searcher, document: Document) -> Sequence[SentenceRecord]:
    """The best sentence of each other article for a document's title or, without one, first sentence."""
    text = document.title or (document.sentences[0].text if document.sentences else "")
    text = shorten_title(text, LONG_TITLE_CHARS)
    try:
        hits = searcher.search(literal(text), _READ).hits
    except EsrError:  # also if no word of it can be searched for
        return []
    by_document: dict[str, SentenceRecord] = {}
    for record in map(require_record, hits):
        if record.document_id != document.id:
            by_document.setdefault(record.document_id, record)
    return list(by_document.values())[:SIMILAR]


_BATCH = 500


def _add_export(get: Route, settings: Settings, format: ExportFormat) -> None:
    @get(
        f"/search.{format.suffix}", f"results_{format.name}", seconds=settings.export_deadline, is_export=True
    )
    def export(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "export", "page")
        search, columns = parse_search(arguments), arguments.values_of("fields")
        if columns and not format.has_columns:
            raise RequestError(f"{format.label} has no columns to choose: leave out fields", "fields")
        with blame_argument(None):
            format.check()
        is_all = arguments.first("k") == ALL
        listing = list_hits(visit.searcher.snapshot(), search, settings, is_all, format.most)
        written = columns if format.has_columns else ("permalink",)
        rows = _write_rows(listing, written, arguments.first("index"))
        response = export_file(format, rows, columns, listing.incomplete, listing.total)
        if response.is_streamed:
            response.call_on_close(visit.hand_over())
        return response


def _write_rows(listing: Listing, columns: Sequence[str], index_name: str) -> Iterator[Row]:
    shape = HitShape(frozenset(columns))
    prepared, rank = listing.prepared, 0
    for hits in batched(listing.hits, _BATCH):
        writer = HitWriter(prepared.index, shape, prepared.counts, index_name)
        written = writer.write_entries([list(single([[hit]])) for hit in hits], is_list=False)
        for hit, (fields,) in zip(hits, written, strict=True):
            rank += 1
            if RANK in columns or not columns:
                fields = {RANK: rank, **fields}
            yield Row(hit, fields)
