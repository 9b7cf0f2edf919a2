"""The peers of the embedded engine: bm25s with numba, and tantivy. Both rank sentences by BM25."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import bm25s
import tantivy

from benchmarks.speed import corpus
from benchmarks.speed.timing import Search
from benchmarks.speed.workspace import ANALYZER, Setup, build_once, collection_file
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import DEFAULT_ANALYZER, get_definition

TOKENIZER = "english_stem_without_stop_words"
HEAP = 128_000_000
"""tantivy's default memory of a writer, in bytes."""


def bm25s_searches(setup: Setup, size: int, queries: Sequence[str], k: int) -> dict[str, Search]:
    """bm25s with prepared terms, and with the analysis of the query."""
    analyze, index = get_analyzer(ANALYZER).terms, _bm25s(setup, size)
    terms_of = {query: [analyze(query)] for query in queries}

    def search(terms: list[list[str]]) -> object:
        return index.retrieve(terms, k=k, show_progress=False, n_threads=0)

    return {"bm25s": lambda q: search(terms_of[q]), "bm25s, analysis too": lambda q: search([analyze(q)])}


@cache
def _bm25s(setup: Setup, size: int) -> bm25s.BM25:
    def build(path: Path) -> None:
        vocabulary: dict[str, int] = {}
        analyze = get_analyzer(ANALYZER).terms
        ids = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in analyze(sentence["text"])]
            for document in corpus.read(collection_file(setup, size))
            for sentence in document["sentences"]
        ]
        index = bm25s.BM25(backend="numba")
        index.index(bm25s.tokenization.Tokenized(ids, vocabulary), show_progress=False)
        index.save(path, show_progress=False)

    path = build_once(setup.work / f"{size}x" / "bm25s", build)
    loaded = bm25s.BM25.load(path, show_progress=False)
    loaded.activate_numba_scorer()
    return loaded


def tantivy_searches(setup: Setup, size: int, queries: Sequence[str], k: int) -> dict[str, Search]:
    """tantivy with a prepared query; with the parsing of the query; without counting the matches; and with
    the ids and texts of the hits, in place of their addresses."""
    index, searcher = _tantivy(setup, size)
    prepared = {query: _build_query(index, query) for query in queries}

    def read(address: tantivy.DocAddress) -> tuple[str, str]:
        document = searcher.doc(address)
        return document["id"][0], document["text"][0]

    def parse(query: str) -> tantivy.Query:
        return index.parse_query_lenient(query, ["text"])[0]

    return {
        "tantivy": lambda q: searcher.search(prepared[q], k),
        "tantivy, parsing too": lambda q: searcher.search(parse(q), k),
        "tantivy, not counting": lambda q: searcher.search(prepared[q], k, count=False),
        "tantivy, with texts": lambda q: [
            read(address) for _, address in searcher.search(prepared[q], k).hits
        ],
    }


def tantivy_best(setup: Setup, size: int, query: str, k: int) -> list[str]:
    """The ids of tantivy's best sentences."""
    index, searcher = _tantivy(setup, size)
    hits = searcher.search(_build_query(index, query), k).hits
    return [searcher.doc(address)["id"][0] for _, address in hits]


def _build_query(index: tantivy.Index, query: str) -> tantivy.Query:
    terms = [
        tantivy.Query.term_query(index.schema, "text", term) for term in get_analyzer(ANALYZER).terms(query)
    ]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])


@cache
def _tantivy(setup: Setup, size: int) -> tuple[tantivy.Index, tantivy.Searcher]:
    """An index written by one thread with much memory: it has few segments, so that searches are fastest."""
    path = build_once(
        setup.work / f"{size}x" / "tantivy",
        lambda path: load_tantivy(collection_file(setup, size), path, heap=500_000_000, threads=1),
    )
    index = tantivy.Index.open(str(path))
    index.register_tokenizer(TOKENIZER, _analyzer())
    index.reload()
    return index, index.searcher()


def load_tantivy(source: Path, path: Path, heap: int = HEAP, threads: int = 0) -> float:
    """Seconds from a file of JSON Lines to an index with stored texts. With 0 threads tantivy chooses.

    Analysis is that of tantivy with esr's stop words. Counts are indexed without positions, as BM25 needs.
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
        for number, sentence in enumerate(document["sentences"]):
            entry = tantivy.Document()
            entry.add_text("text", sentence["text"])
            entry.add_text("id", f"{document['id']}.s{number}")
            writer.add_document(entry)
    writer.commit()
    writer.wait_merging_threads()
    return time.perf_counter() - started


def _analyzer() -> tantivy.TextAnalyzer:
    filters = get_definition(DEFAULT_ANALYZER).chain("filter")
    stop_words = next(f["stopwords"] for f in filters if f["type"] == "stop")
    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    chain = chain.filter(tantivy.Filter.custom_stopword(stop_words)).filter(tantivy.Filter.stemmer("english"))
    return chain.build()
