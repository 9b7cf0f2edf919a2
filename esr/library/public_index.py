"""An index, as programs use it: search it, follow the news in it, change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from functools import partial
from os import fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Unpack

from msgspec.structs import astuple, replace

from esr.errors import UsageError
from esr.following.newest import find_newest
from esr.following.novelty import find_novel
from esr.following.overlap import DEFAULT_THRESHOLD, check_threshold
from esr.following.passages import find_passages
from esr.following.similar_sentences import prepare_similar, search_similar
from esr.following.timeline import PEAKS, Interval, Timeline, build_timeline
from esr.index.contract import read_document
from esr.index.factory import Where, open_delivery, open_generations, open_index, read_where
from esr.index.generations import DEFAULT_KEEP, Generation
from esr.index.login_variables import API_KEY, CA_FILE, INSECURE, PASSWORD, USER, use_login
from esr.index.names import read_aliases
from esr.index.questions import Summary
from esr.index.writer import DEFAULT_WORKERS, Delivery, DeliveryReport
from esr.index.writer import LoadOptions as WriterOptions
from esr.library.checks import check_arguments, check_options, check_value
from esr.library.corpus_methods import CorpusMethods
from esr.library.evidence_methods import EvidenceMethods
from esr.library.hits import Hit, Hits
from esr.library.options import (
    AppendOptions,
    EnrichOptions,
    LoadOptions,
    SearchOptions,
    SearchSettings,
    WriteOptions,
    name_keywords,
    named_as_keywords,
    read_search_options,
    value_of,
)
from esr.query import read_languages
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, check_offset
from esr.ranking.ranking import ENCODER_SECONDS, Ranking, choose_ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery
from esr.stdlib import import_lazily
from esr.text.document import Document

if TYPE_CHECKING:
    from esr.following.holdings import Holdings
    from esr.index import contract
    from esr.index.runs.enrichment_run import EnrichmentReport
    from esr.index.writer import LoadReport
    from esr.library import enriching
else:
    enriching = import_lazily("esr.library.enriching")


@check_arguments
class Index(CorpusMethods, EvidenceMethods):
    """An index: a folder, or an alias in Elasticsearch. Made by `esr.open`, `esr.create` and `esr.load`.

    Every call sees the last complete state of the index, whoever wrote it. Any number of threads may share an
    index, and a forked process may continue to use it. Use it as a context manager, or close it. Later calls
    raise IndexClosed, but answers stay readable.

    Methods raise UsageError if the call is wrong, NotFound (a UsageError) if what it names does not exist,
    and IndexUnusable or EngineUnreachable if the engine has a problem. All of these are EsrErrors.
    """

    def __init__(self, where: Where, login: Mapping[str, str] | None = None) -> None:
        self._where = read_where(where)
        self._login = dict(login or {})
        with self._logged_in():
            self._searcher = Searcher(open_index(self._where))
        self.report: LoadReport | None = None
        """The report of the load that made the index: counts and notes. None for an index that was opened."""

    @classmethod
    def from_searcher(cls, searcher: Searcher) -> Index:
        """An index over an open searcher, such as a part of an index. It can only be searched."""
        index = cls.__new__(cls)
        index._where, index._login, index._searcher, index.report = "", {}, searcher, None
        return index

    @property
    def where(self) -> str:
        """The location, without a login."""
        return self._searcher.index.where

    @property
    def searcher(self) -> Searcher:
        """The searcher of the index, for functions that this class lacks. Its interface is not stable."""
        return self._searcher

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        offset: int = 0,
        fold: bool = False,
        overlap: float = DEFAULT_THRESHOLD,
        per_document: int | None = None,
        languages: str | Iterable[str] | None = None,
        **options: Unpack[SearchOptions],
    ) -> Hits:
        """Find the best k sentences for a query in the query language, exactly as if all were scored.

        `offset` is the number of hits to skip, for a next page; `rank` counts them too. With `fold`, a
        sentence that repeats an earlier hit is listed in `Hit.folded` of that hit. A sentence is a repeat if
        another has the share `overlap` of it, by the rarity of its terms. `per_document` is the most
        sentences of a document to list, None for any number; `k` and `offset` count those that are listed.
        At most 30,000 hits are read for such a list, or 3,000 with `fold`, so it may be shorter than `k`.
        `languages` are the codes of the languages of sentences to find in an index by language, or "all", by
        default only that of the query: docs/mixed-languages.md.
        `options` are those of `SearchOptions`. Raises UsageError for a query without words, or an unknown
        option.
        """
        accepted = ("k", "offset", "fold", "overlap", "per_document", "languages")
        settings = read_search_options(options, *accepted)
        settings = settings._replace(languages=() if languages is None else read_languages(languages))
        if per_document is not None and (not isinstance(per_document, int) or per_document < 1):
            raise UsageError(f"per_document is a number from 1, or None for any number, not {per_document!r}")
        end = check_k(k) + (skipped := check_offset(offset))

        def search(prepared: PreparedQuery) -> Hits:
            find = partial(prepared.search, filters=settings.filters)
            if not fold and per_document is None:
                answer = find(end, records=not skipped)
                answer = replace(answer, hits=answer.hits[skipped:])
                return Hits(prepared, answer, settings.filters, offset=skipped).read()
            answer, listed = find_passages(
                find,
                prepared,
                end,
                settings.filters,
                overlap=check_threshold(overlap) if fold else None,
                joins=False,
                per_document=per_document,
            )
            repeats = {passage.best.sentence_id: passage.similar for passage in listed}
            answer = replace(answer, hits=answer.hits[skipped:])
            return Hits(prepared, answer, settings.filters, repeats, skipped)

        return self._on_latest(query, settings, search)

    def newest(
        self, query: str, k: int = 10, *, oldest_first: bool = False, **options: Unpack[SearchOptions]
    ) -> Hits:
        """Find the k newest of all sentences with every word of a query; those without a date come last.

        With `oldest_first`, they are the oldest. `total` counts all of them. `options` are those of
        `SearchOptions`; the ranking only gives scores.
        """
        settings = read_search_options(options, "k", "oldest_first")

        def search(prepared: PreparedQuery) -> Hits:
            answer = find_newest(prepared, k, settings.filters, oldest_first=oldest_first)
            return Hits(prepared, answer, settings.filters)

        return self._on_latest(query, settings, search)

    def novel(
        self,
        query: str,
        k: int = 10,
        *,
        overlap: float = DEFAULT_THRESHOLD,
        **options: Unpack[SearchOptions],
    ) -> Hits:
        """Find the k oldest of the sentences with every word of a query that say something new.

        A sentence repeats an earlier one that has the share `overlap` of it. `Hit.folded` has the sentences
        that repeat a hit. With `after`, sentences that repeat one from before that date are not new either.
        """
        settings = read_search_options(options, "k", "overlap")

        def search(prepared: PreparedQuery) -> Hits:
            answer, repeats = astuple(find_novel(prepared, k, settings.filters, threshold=overlap))
            return Hits(prepared, answer, settings.filters, repeats)

        return self._on_latest(query, settings, search)

    def similar(
        self, hit: Hit | str, k: int = 10, *, own_document: bool = False, **options: Unpack[SearchOptions]
    ) -> Hits:
        """Find the k sentences that say the same as a sentence, or continue it, without the sentence itself.

        `hit` is a hit, or the id of a sentence. The search uses its most characteristic words. Sentences of
        its own document are left out unless `own_document` is set. Raises NotFound for an unknown id.
        """
        if not isinstance(hit, Hit | str):
            raise UsageError(f"a sentence is a hit or the id of a sentence, not {hit!r}")
        settings = read_search_options(options, "k", "own_document")
        id = hit if isinstance(hit, str) else hit.id

        def search(index: contract.Index) -> Hits:
            prepared, document_id = prepare_similar(Searcher(index), id, settings.ranking)
            left_out = None if own_document else document_id
            answer = search_similar(prepared, id, left_out, k, settings.filters)
            return Hits(prepared, answer, settings.filters)

        return self._searcher.index.on_latest(search)

    def batch(self, queries: Iterable[str], k: int = 10, **options: Unpack[SearchOptions]) -> list[Hits]:
        """Answer many queries, in their order, all from one state of the index.

        The texts of an answer are read when the first of them is used, so that ids and scores of many hits
        are cheap. A query with nothing to search for has no hits, and `incomplete` says why.
        """
        if isinstance(queries, str | Mapping):
            raise UsageError("queries are several texts: batch(['travel ban', 'refugees'])")
        settings = read_search_options(options, "k")
        snapshot = self._searcher.snapshot().index
        settings = _choose_ranking(snapshot, settings)

        def search(query: str) -> Hits:
            try:
                prepared = _prepare(snapshot, query, settings)
            except UnsearchableQuery as error:
                return Hits(None, Answer([], 0, 0.0, incomplete=str(error)), settings.filters)
            answer = prepared.search(k, settings.filters, records=False)
            return Hits(prepared, answer, settings.filters)

        return [search(query) for query in queries]

    def timeline(
        self,
        *queries: str,
        interval: Interval | None = None,
        peaks: int = PEAKS,
        **options: Unpack[SearchOptions],
    ) -> Timeline:
        """Count, for each query, the sentences of each day, week, month or year that have every word of it.

        `interval` is "day", "week", "month" or "year", by default the finest that makes a readable picture.
        `peaks` is the number of peaks of each query that get their best sentence. Dates are in UTC. Raises
        UsageError if there would be too many periods.
        """
        if not queries:
            raise UsageError("a timeline needs a query: timeline('travel ban')")
        settings = read_search_options(options, "interval", "peaks")
        snapshot = self._searcher.snapshot().index
        settings = _choose_ranking(snapshot, settings)
        prepared = [_prepare(snapshot, query, settings) for query in queries]
        return build_timeline(prepared, settings.filters, interval, peaks)

    def document(self, id: str) -> Document:
        """Read a whole document. Raises NotFound for an unknown id."""
        return read_document(self._searcher.index, id)

    def documents(self) -> Iterator[Document]:
        """Read all documents of one state of the index, as loaded and in the order of the index."""
        return iter(self._searcher.index.snapshot().documents())

    def append(self, rows: Iterable[object] | Where, **options: Unpack[AppendOptions]) -> DeliveryReport:
        """Add documents as a new generation, all of them in one step, or none if there is an error.

        New documents are added, documents whose content has changed are replaced, and others are skipped, so
        an append may be repeated. `rows` are as in `esr.create`, or the path of a file or folder.
        Returns the numbers of documents that were added, changed and unchanged. Raises InputError with the
        place of what is wrong.
        """
        from esr.library.loading import deliver_pipeline, open_source

        check_options(options, AppendOptions)
        with named_as_keywords(), self._logged_in():
            pipeline = open_source(rows, options)
            report = deliver_pipeline(
                pipeline, self._where, lambda documents: self._delivery(options).append(documents)
            )
        report.notes = _write_notes(*report.notes, pipeline.describe_malformed())
        return report

    def remove(
        self,
        ids: Iterable[str] | None = None,
        *,
        query: str | None = None,
        before: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> DeliveryReport:
        """Remove documents for good, in one step: by ids, or by a query, a date or both.

        `query` removes the documents with a sentence that has all its words, `before` those dated before a
        day. `esr sync` does not deliver them again. Unknown ids are `missing` in the report.
        """
        check_options(options, WriteOptions)
        from esr.library.loading import choose_first_again
        from esr.library.removal import select_documents

        if isinstance(ids, str):
            raise UsageError(f"ids are several: remove([{ids!r}])")
        removed, moment = list(ids or ()), None
        for id in removed:
            check_value("an id", id, str)
        if ids is None or query is not None or before is not None:
            if removed:
                raise UsageError(
                    "documents are removed by ids, or by query and before: leave one of them out"
                )
            with self._logged_in():
                removed, _, moment = select_documents(self._searcher.index.snapshot(), query, before)
        with self._logged_in():
            report = self._delivery(options).remove(removed, moment)
            report.notes += choose_first_again(self._where)
            return report

    def rollback(self, to: str | None = None) -> Generation:
        """Serve an earlier generation again: the previous one, or the one named `to`. Returns it.

        Raises NotFound if there is none of this name, and UsageError if there is none at all. The `keep` of
        later writes determines how many there are.
        """
        with self._logged_in(), closing(open_generations(self._where)) as generations:
            return generations.rollback(to)

    def enrich(
        self,
        *parts: Literal["features", "entities", "parse", "vectors", "quotes", "table", "reuse"],
        workers: int = 1,
        slice: tuple[int, int] = (1, 1),
        **options: Unpack[EnrichOptions],
    ) -> EnrichmentReport:
        """Compute features, names, parses, vectors and quotations, and store them in the index.

        Without `parts`, features, entities and parses are computed: quotations and vectors are computed if
        they are named, as in `enrich("quotes")`. `table` fits a table of vectors to a sample, and encodes all
        sentences without a vector by it; `reuse` finds the copies in all documents. What is already stored is
        skipped, so an interrupted call may be repeated. Searches go on meanwhile. `workers` is the number of
        processes, and `slice` (i, n) is the i-th of n slices of the documents. `options` are those of
        `EnrichOptions`. Raises UsageError if a package is missing, with the command that installs it.
        """
        from esr.index.runs.enrichment_run import RunEnd, run_enrichment

        index = self._searcher.index
        check_options(options, EnrichOptions)
        if not 1 <= slice[0] <= slice[1]:
            raise UsageError(f"slice is (i, n), the i-th of n slices from (1, n) to (n, n), not {slice!r}")
        if whole := {*parts} & enriching.OF_WHOLE_INDEX:
            if slice != (1, 1):
                raise UsageError(f"{sorted(whole)[0]} is for the whole index: leave out slice")
            with self._logged_in():
                report = enriching.enrich_whole(index, whole, options, workers)
            parts = tuple(part for part in parts if part not in whole)
            if not parts:
                return report
        enricher = enriching.read_enricher(parts, options, index.description.analyzer)
        aliases_option = options.get("aliases")
        aliases = None if aliases_option is None else read_aliases(Path(aliases_option))
        vector_index = bool(options.get("vector_index"))
        with self._logged_in():
            end = RunEnd(aliases, vector_index)
            return run_enrichment(index, enricher, slice=slice, workers=workers, end=end)

    def generations(self) -> list[Generation]:
        """List the generations, newest first. One is serving; others are kept, being loaded, or broken."""
        with self._logged_in(), closing(open_generations(self._where)) as generations:
            return generations.all()

    def collection(self) -> Holdings:
        """Count what the index has: sources by period, undated and untitled documents, languages, copies and
        enrichment.
        """
        from esr.following.holdings import describe_holdings

        return describe_holdings(self._searcher)

    def stats(self) -> Mapping[str, Any]:
        """Return counts, sizes and settings, as `esr status --json` prints them: `documents` and others."""
        return self._searcher.index.status(Summary())

    def close(self) -> None:
        """Close the index. Later calls raise IndexClosed."""
        self._searcher.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Index {self.where}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an index cannot be pickled: send index.where, and open it there")

    def _on_latest(
        self, query: str, settings: SearchSettings, search: Callable[[PreparedQuery], Hits]
    ) -> Hits:
        return self._searcher.index.on_latest(lambda index: search(_prepare(index, query, settings)))

    def _delivery(self, options: Mapping[str, Any]) -> Delivery:
        return open_delivery(
            self._where,
            WriterOptions(
                keep=value_of(options, "keep", DEFAULT_KEEP),
                workers=value_of(options, "workers", DEFAULT_WORKERS),
            ),
        )

    def _logged_in(self) -> AbstractContextManager[None]:
        if not self._where:
            raise UsageError("this index can only be searched: open it with esr.open to change it")
        return use_login(self._login)


def load_index(where: Where, rows: Iterable[object], options: Mapping[str, Any]) -> Index:
    """Load rows, or files if these are a list of paths, into a new generation, and open the index."""
    from esr.library.loading import load_pipeline, open_source
    from esr.library.meaning import check_meaning, fit_loaded

    check_options(options, LoadOptions)
    login = read_login(options)
    with named_as_keywords(), use_login(login):
        pipeline = open_source(rows, options)
        meaning = options.get("meaning")
        check_meaning(meaning)
        report = load_pipeline(
            pipeline,
            read_where(where),
            WriterOptions(
                if_exists=value_of(options, "if_exists", "fail"),
                analyzer=options.get("analyzer"),
                title=options.get("title"),
                by=options.get("by"),
                shards=options.get("shards"),
                replicas=options.get("replicas"),
                keep=value_of(options, "keep", DEFAULT_KEEP),
                resume=value_of(options, "resume", False),
                workers=value_of(options, "workers", DEFAULT_WORKERS),
                merge=value_of(options, "merge", True),
                precomputed_mixture=Ranking().mixture() if value_of(options, "impacts", True) else None,
                profile=options.get("profile"),
                set_aside=pipeline.reject if pipeline.tolerates_malformed else None,
            ),
            encodes=meaning is not False,
        )
        report.notes += fit_loaded(read_where(where), meaning)
    report.notes = _write_notes(*report.notes, pipeline.describe_malformed())
    index = Index(where, login)
    index.report = report
    return index


def _write_notes(*notes: str | None) -> list[str]:
    """The notes of a load or a delivery, for Python."""
    return [name_keywords(note) for note in notes if note]


_VARIABLES = {"api_key": API_KEY, "user": USER, "password": PASSWORD, "ca_file": CA_FILE}


def read_login(options: Mapping[str, Any]) -> Mapping[str, str]:
    """The variables of `esr.index.login_variables` for these `LoginOptions`."""
    variables = {
        _VARIABLES[name]: fspath(options[name]) for name in _VARIABLES if options.get(name) is not None
    }
    return {**variables, INSECURE: "1"} if options.get("insecure") else variables


def _prepare(index: contract.Index, query: str, settings: SearchSettings) -> PreparedQuery:
    """Plan a query on a snapshot."""
    ranking = _choose_ranking(index, settings).ranking
    return Searcher(index).prepare(
        settings.read(query), ranking, require_all=settings.require_all, literal=settings.literal
    )


def _choose_ranking(index: contract.Index, settings: SearchSettings) -> SearchSettings:
    """The settings with the ranking on an index, which several queries share: an encoder may be loaded."""
    return settings._replace(ranking=choose_ranking(settings.ranking, index, ENCODER_SECONDS))
