"""The pages for results, a document, an explanation, a comparison and similar sentences, and their files.

Citations, feeds and links remain valid after a new load: they identify a sentence by its document and a
digest of its text. Saved searches, clippings and judgements, which readers keep in their browsers, have pages
and files too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import msgspec
from flask import Flask, Response, redirect, request, url_for
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace
from werkzeug.wrappers import Response as Redirect

from esr.arguments.argument import WATCH
from esr.arguments.filters import filters_of
from esr.arguments.tables.rankings import VERSUS
from esr.arguments.tables.table import names_of
from esr.arguments.types import ALL
from esr.corpus.names_and_quotes import ListedName, Selection, list_names
from esr.dependency.explanation import svg_tree
from esr.errors import EsrError
from esr.following.atom import MEDIA_TYPE, Feed, feed_urn, render_feed, text_digest
from esr.following.exports import (
    CITATIONS,
    EXPORTS,
    FIELDS,
    NOTE,
    RANK,
    SPEAKER,
    TAGS,
    CitationFormat,
    ExportFormat,
    Row,
)
from esr.following.newest import find_newest
from esr.following.saved_searches import write_search
from esr.index.contract import read_document
from esr.index.filters import Filters
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import Records
from esr.query import literal
from esr.ranking.answers import COLUMNS, describe_match, require_record, single
from esr.ranking.explanation.explanation import Explanation
from esr.ranking.explanation.parts import Addition
from esr.ranking.meaning_signal import NAME
from esr.ranking.ranking import Origin, Ranking
from esr.ranking.searcher import Searcher
from esr.stdlib import batched
from esr.text.document import Document
from esr.text.languages import name_language
from esr.wording import LONG_TITLE_CHARS, shorten_title
from webui.answers import downloads, explanations
from webui.answers.downloads import citations_file, export_file
from webui.answers.lists import HitWriter, Listing, find_similar, list_hits, rank_sentences, sentence_link
from webui.arguments.form import Links
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
from webui.pages.rendering import Highlighter, PageRenderer
from webui.pages.results import GROUP_SENTENCES, describe_hits, find_headings, find_results, shorten_heading
from webui.pages.timeline import draw_chart
from webui.running.problems import RequestError, blame_argument, look_up
from webui.running.served_indexes import Route, ServedIndexes, Visit
from webui.running.settings import Settings

# Pictures of scores: the parts of an explained score, and its dependency tree. The kinds of pieces in bars
# are classes of the style sheet.


def _bar_kind(origin: Origin) -> str:
    """The kind of piece that draws a part. Fields and meaning have their own, other signals share one."""
    if origin.kind == "field" or (origin.kind == "signal" and origin.name == NAME):
        return origin.name
    return "dependency" if origin.kind in ("signal", "trees") else origin.kind


SCORE_BAR_WIDTH = 1000
"""The width of the scale, in units of the drawing."""


class Piece(NamedTuple):
    """A piece of a bar: its kind, what it adds, and its position."""

    kind: str
    adds: float
    x: float
    width: float


class BarRow(NamedTuple):
    """A part of the score and the pieces of its bar."""

    kind: str
    label: str
    adds: float
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class ScoreBars:
    """Rows on one scale. `zero`: the x of 0; `kinds`: the kinds of pieces, for the key."""

    rows: Sequence[BarRow]
    zero: float
    kinds: Sequence[str]


def score_bars(explanation: Explanation) -> ScoreBars:
    """The parts of a score as bars: right of zero if they raise it, left if they lower it."""
    rows = _weighted_rows(explanation)
    low = min((sum(p.adds for p in _drawable(row) if p.adds < 0) for _, row in rows), default=0.0)
    high = max((sum(p.adds for p in _drawable(row) if p.adds > 0) for _, row in rows), default=0.0)
    scale = SCORE_BAR_WIDTH / ((high - low) or 1.0)
    zero = -low * scale
    bars = [
        BarRow(*_heading(origin), sum(part.adds for part in row), list(_pieces(row, zero, scale)))
        for origin, row in rows
    ]
    kinds = dict.fromkeys(piece.kind for bar in bars for piece in bar.pieces)
    return ScoreBars(bars, zero, list(kinds))


def _weighted_rows(explanation: Explanation) -> list[tuple[Origin, list[Addition]]]:
    """The rows of both stages. Those of the first are multiplied by its weight in the second."""
    second = explanation.second
    weight = 1.0 if second is None else second.weight
    rows = [
        (origin, [Addition(part.origin, weight * part.adds) for part in row])
        for origin, row in (explanation.rows if weight else [])
    ]
    return rows + [(part.origin, [part]) for part in (second.additions if second else [])]


def _heading(origin: Origin) -> tuple[str, str]:
    """The kind and the label of a row."""
    kind = "signal" if origin.kind == "trees" else origin.kind
    return kind, f"{origin.name} {origin.detail}".rstrip()


def _drawable(row: Iterable[Addition]) -> list[Addition]:
    return [part for part in row if part.adds and math.isfinite(part.adds)]


def _pieces(row: Iterable[Addition], zero: float, scale: float) -> Iterable[Piece]:
    right, left = zero, zero
    for origin, adds in _drawable(row):
        width = abs(adds) * scale
        if adds > 0:
            yield Piece(_bar_kind(origin), adds, right, width)
            right += width
        else:
            left -= width
            yield Piece(_bar_kind(origin), adds, left, width)


def tree_picture(explained: explanations.ExplainedSentence) -> Markup | None:
    """The tree with the paths between the words that scored, or between all query words if none did.

    None without a tree.
    """
    tree, second = explained.tree, explained.explanation.second
    if tree is None or not tree.words:
        return None
    scored_words = second.chosen if second else tree.marked
    return Markup(svg_tree(tree.words, tree.marked, scored_words, standalone=False))  # escapes the words


OTHER_EXPORTS = {
    "search_json": "JSON",
    "results_run": "TREC run",
    "results_atom": "Feed of the newest (Atom)",
    "results_watch": "Lines for esr watch",
}
"""Exports of results other than files: routes and labels."""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the pages of this module, their files, and their template functions to the application."""
    get = partial(indexes.route, app)
    for add in (_add_results, _add_document, _add_explanation, _add_comparison, _add_similar, _add_kept):
        add(get, settings, render)
    _add_sentence(get, settings)
    _add_feed(get, settings)
    for citation in CITATIONS.values():
        _add_citation(get, settings, citation)
    for format in EXPORTS.values():
        _add_export(get, settings, format)
        _add_clippings(get, format)
    known = {"export_formats": EXPORTS, "export_columns": FIELDS, "usual_columns": COLUMNS}
    app.jinja_env.globals.update(
        citation_formats=CITATIONS,
        exports=OTHER_EXPORTS,
        arrangement=" ".join(names_of("arrangement")),
        most_known=min(_MOST_KNOWN, settings.max_k),
        **known,
    )
    app.jinja_env.filters.update(sentence_link=sentence_link, language_name=name_language)


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
            search=search,
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
        analyzer, terms = search.own_terms(visit.searcher)
        return render(
            visit,
            "explain.html",
            search=search,
            explained=explained,
            headings=find_headings(visit.searcher.index, [explained.record]),
            reason=terms and describe_match(explained.record, terms, analyzer),
            bars=score_bars(explained.explanation),
            picture=tree_picture(explained),
            highlight=Highlighter(analyzer, terms),
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
        analyzer, terms = search.own_terms(visit.searcher)
        hits = [compared.hit for side in (comparison.left, comparison.right) for compared in side.hits]
        return render(
            visit,
            "compare.html",
            search=search,
            comparison=comparison,
            highlight=Highlighter(analyzer, terms),
            reasons=describe_hits(hits, terms, analyzer),
            headings=find_headings(visit.searcher.index, map(require_record, hits)),
            labels=[ranking_label(search.ranking), ranking_label(comparison.right.ranking)],
        )

    @get("/compare.csv")
    def compare_csv(visit: Visit) -> Response:
        return downloads.comparison_csv(read(visit)[1])


def _add_similar(get: Route, settings: Settings, render: PageRenderer) -> None:
    """Add the page "More like this": sentences that say the same as one, or continue it."""

    @get("/similar")
    def similar(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "similar", "page")
        found = find_similar(visit.searcher, parse_similar(arguments))
        return render(
            visit,
            "similar.html",
            found=found,
            search=found.search,
            headings=find_headings(found.index, [found.record, *map(require_record, found.answer.hits)]),
            by_meaning=BY_MEANING,
            highlight=Highlighter(found.index.analyzer, found.terms),
        )


def _add_citation(get: Route, settings: Settings, citation: CitationFormat) -> None:
    @get(f"/sentence.{citation.suffix}", f"sentence_{citation.name}")
    def of_sentence(visit: Visit) -> Response:
        return citations_file(citation, _read_sentence(visit, settings))


def _read_sentence(visit: Visit, settings: Settings) -> Sequence[SentenceRecord]:
    arguments = decode_arguments(request.query_string, settings, "explain", "page")
    with look_up("sentence", arguments["id"][0]):
        return visit.searcher.index.read(arguments["id"], Records())


def _add_sentence(get: Route, settings: Settings) -> None:
    @get("/sentence")
    def sentence(visit: Visit) -> Redirect:
        """Redirect to the sentence in its document, or to the document if the sentence is gone."""
        arguments = decode_arguments(request.query_string, settings, "sentence")
        document_id, digest = arguments.first("id"), arguments.first("says")
        with look_up("document", document_id):
            document = read_document(visit.searcher.index, document_id)
        places = [n for n, each in enumerate(document.sentences) if text_digest(each.text) == digest]
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
        if format.most and search.k > format.most:
            search, is_all = replace(search, k=format.most), True
        listing = list_hits(visit.searcher.snapshot(), search, settings, is_all)
        rows = _write_rows(listing, columns, arguments.first("index"))
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


# Saved searches, clippings and judgements, which readers keep in their browsers. The server stores none. It
# writes a search as lines for `esr watch`, and clippings that are sent to it as a file of any format.

_COLUMNS = (
    "text",
    SPEAKER,
    "title",
    "authors",
    "source",
    "date",
    "url",
    NOTE,
    TAGS,
    "permalink",
    "sentence_id",
)
_MOST_KNOWN = 100
"""Number of the newest sentences of a saved search that a browser remembers, to recognise new ones."""


class Clipping(Struct):
    """A sentence as a browser keeps it, with the reader's note and tags. Further keys are ignored.

    `speaker` is that of a quotation in it, empty without one.
    """

    sentence_id: str
    text: str
    document_id: str = ""
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    permalink: str = ""
    speaker: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()

    def row(self) -> Row:
        """The clipping as a row of a file."""
        record = SentenceRecord(
            self.sentence_id,
            self.document_id or self.sentence_id,
            0,
            self.text,
            None,
            None,
            self.title,
            self.date,
            self.source,
            self.url,
            self.language,
            authors=self.authors,
        )
        return Row(Hit(self.sentence_id, 0.0, record), msgspec.to_builtins(self))


def _add_kept(get: Route, settings: Settings, render: PageRenderer) -> None:
    @get("/saved")
    def saved(visit: Visit) -> Response:
        return render(visit, "saved.html")

    @get("/judge")
    def judge(visit: Visit) -> Response:
        return render(visit, "judge.html")

    @get("/search.toml")
    def results_watch(visit: Visit) -> Response:
        """The search as lines of a file for `esr watch`. The index is only checked to exist."""
        arguments = decode_arguments(request.query_string, settings, "page")
        search = parse_search(arguments)
        with blame_argument("q"):
            visit.searcher.interpret(search.parsed)
        table: dict[str, Any] = {"query": search.query, "literal": search.is_literal}
        for row in filters_of(WATCH):
            texts = arguments.get(row.name, ())
            table[row.name] = list(texts) if row.is_repeatable else arguments.first(row.name)
        if search.ranking != Ranking():
            table["ranking"] = search.ranking.as_dict()
        response = Response(write_search(table), mimetype="application/toml")
        response.headers["Content-Disposition"] = 'attachment; filename="searches.toml"'
        return response


def _add_clippings(get: Route, format: ExportFormat) -> None:
    @get(f"/clippings.{format.suffix}", f"clippings_{format.name}", method="POST")
    def clippings(_: Visit) -> Response:
        """The clippings in the body, a JSON list, as a file. They are neither stored nor logged."""
        try:
            sent = msgspec.json.decode(request.get_data(), type=list[Clipping])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise RequestError(f"the body must be a JSON list of clippings: {error}", None) from error
        with blame_argument(None):
            format.check()
        columns = _COLUMNS if format.has_columns and format.name != "jsonl" else ()
        response = export_file(format, (clipping.row() for clipping in sent), columns, None, len(sent))
        response.headers["Content-Disposition"] = f'attachment; filename="clippings.{format.ending}"'
        return response
