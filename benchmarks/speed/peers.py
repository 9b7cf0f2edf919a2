"""The peers of the embedded engine: bm25s with numba, and tantivy. Both rank sentences by BM25."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import bm25s
import tantivy

from benchmarks.speed import corpus
from benchmarks.speed.prepared import collection, kept
from benchmarks.speed.setup import ANALYZER, Setup
from benchmarks.speed.timing import Search
from esr import resources
from esr.analysis import get
from esr.analysis.analyzer import DEFINITION

TOKENIZER = "english_stem_without_stop_words"
HEAP = 128_000_000
"""tantivy's default for a writer, in bytes."""


def bm25s_searches(setup: Setup, size: int, queries: Sequence[str], k: int) -> dict[str, Search]:
    """bm25s with terms at hand, and with the analysis of the query."""
    analysed, peer = get(ANALYZER).terms, _bm25s(setup, size)
    ready = {query: [analysed(query)] for query in queries}

    def ask(terms: list[list[str]]) -> object:
        return peer.retrieve(terms, k=k, show_progress=False, n_threads=0)

    return {"bm25s": lambda q: ask(ready[q]), "bm25s, analysis too": lambda q: ask([analysed(q)])}


@cache
def _bm25s(setup: Setup, size: int) -> bm25s.BM25:
    def make(path: Path) -> None:
        numbers: dict[str, int] = {}
        analysed = get(ANALYZER).terms
        ids = [
            [numbers.setdefault(term, len(numbers)) for term in analysed(sentence["text"])]
            for document in corpus.read(collection(setup, size))
            for sentence in document["sentences"]
        ]
        made = bm25s.BM25(backend="numba")
        made.index(bm25s.tokenization.Tokenized(ids, numbers), show_progress=False)
        made.save(path, show_progress=False)

    path = kept(setup.work / f"{size}x" / "bm25s", make)
    found = bm25s.BM25.load(path, show_progress=False)
    found.activate_numba_scorer()
    return found


def tantivy_searches(setup: Setup, size: int, queries: Sequence[str], k: int) -> dict[str, Search]:
    """tantivy as it comes, with the query ready; with the query parsed; without counting what matches; and
    with the ids and texts of what it found, which it gives as places otherwise."""
    index, searcher = _tantivy(setup, size)
    analysed, schema = get(ANALYZER).terms, index.schema

    def built(query: str) -> tantivy.Query:
        terms = [tantivy.Query.term_query(schema, "text", term) for term in analysed(query)]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])

    def parsed(query: str) -> tantivy.Query:
        return index.parse_query_lenient(query, ["text"])[0]

    ready = {query: built(query) for query in queries}
    return {
        "tantivy": lambda q: searcher.search(ready[q], k),
        "tantivy, parsing too": lambda q: searcher.search(parsed(q), k),
        "tantivy, not counting": lambda q: searcher.search(ready[q], k, count=False),
        "tantivy, with texts": lambda q: [searcher.doc(at) for _, at in searcher.search(ready[q], k).hits],
    }


def tantivy_best(setup: Setup, size: int, query: str, k: int) -> list[str]:
    """The ids of the sentences that tantivy finds best."""
    index, searcher = _tantivy(setup, size)
    terms = [tantivy.Query.term_query(index.schema, "text", term) for term in get(ANALYZER).terms(query)]
    asked = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
    return [searcher.doc(place)["id"][0] for _, place in searcher.search(asked, k).hits]


@cache
def _tantivy(setup: Setup, size: int) -> tuple[tantivy.Index, tantivy.Searcher]:
    """Written by one thread with much room, so that it has few segments: searches are as fast as can be."""
    path = kept(
        setup.work / f"{size}x" / "tantivy",
        lambda path: tantivy_load(collection(setup, size), path, heap=500_000_000, threads=1),
    )
    index = tantivy.Index.open(str(path))
    index.register_tokenizer(TOKENIZER, _analyzer())
    index.reload()
    return index, index.searcher()


def tantivy_load(source: Path, path: Path, heap: int = HEAP, threads: int = 0) -> float:
    """Seconds from a file of JSON Lines to an index with the texts stored. 0 threads: as many as it likes.

    Analysis is tantivy's own with esr's stop words. Counts are indexed and no positions, as BM25 needs.
    """
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=True, tokenizer_name=TOKENIZER, index_option="freq")
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    path.mkdir(parents=True)
    index = tantivy.Index(builder.build(), path=str(path))
    index.register_tokenizer(TOKENIZER, _analyzer())
    started = time.perf_counter()
    writer = index.writer(heap, threads)
    for document in corpus.read(source):
        for place, sentence in enumerate(document["sentences"]):
            made = tantivy.Document()
            made.add_text("text", sentence["text"])
            made.add_text("id", f"{document['id']}.s{place}")
            writer.add_document(made)
    writer.commit()
    writer.wait_merging_threads()
    return time.perf_counter() - started


def _analyzer() -> tantivy.TextAnalyzer:
    filters = resources.load_json(DEFINITION)["template"]["settings"]["analysis"]["filter"].values()
    stop = next(each["stopwords"] for each in filters if each["type"] == "stop")
    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    chain = chain.filter(tantivy.Filter.custom_stopword(stop)).filter(tantivy.Filter.stemmer("english"))
    return chain.build()
