"""Both engines give the same answers in every language, and for text that nobody should have written."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import esr
from esr import loaders
from esr.index.hits import Hit
from esr.ranking.searcher import open_searcher
from esr.text.analyzer import analyzer_for_language
from esr.text.document import Document
from esr.text.validate import build_document
from tests.support.elasticsearch import differences, document, fresh, load
from tests.support.odd_texts import made_up_words, spoilt_texts

XQUAD = Path(__file__).resolve().parents[3] / "shared" / "collections" / "xquad-dev"
K = 100


def differing_answers(
    url: str, folder: Path, documents: list[Document], analyzer: str, queries: list[str]
) -> Iterator[str]:
    """Each query whose best K sentences are not the same on both engines."""
    load(str(folder), documents, analyzer=analyzer)
    with fresh(url) as where:
        load(where, documents, analyzer=analyzer)
        with open_searcher(where) as on_cluster, open_searcher(str(folder)) as on_disk:
            compared = 0
            for query in queries:
                if not on_disk.index.analyzer.terms(query):
                    continue
                exact = hits(on_disk, query, K + 20)
                compared += bool(exact)
                wrong = differences(exact, hits(on_cluster, query, K), K)
                if wrong:
                    yield f"{query!r}: {wrong[0]}"
            assert compared > len(queries) // 2


def hits(searcher: esr.ranking.searcher.Searcher, query: str, k: int) -> list[Hit]:
    return list(searcher.search(query, k, records=False).hits)


@pytest.mark.parametrize(
    "analyzer",
    ["multilingual", *(pytest.param(n, marks=pytest.mark.endurance) for n in ("german", "hindi", "turkish"))],
)
def test_both_engines_find_the_same_in_made_up_text_of_a_language(
    elasticsearch_url: str, tmp_path: Path, analyzer: str
) -> None:
    rng = random.Random(analyzer)
    words = " ".join(made_up_words(analyzer, 400)).split()
    documents = [
        document(f"d{n}", *(" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(4)))
        for n in range(40)
    ]
    queries = [" ".join(rng.sample(words, 3)) for _ in range(25)]
    assert not list(differing_answers(elasticsearch_url, tmp_path / "index", documents, analyzer, queries))


def test_both_engines_find_the_same_in_spoilt_text(elasticsearch_url: str, tmp_path: Path) -> None:
    """Bidi marks, joiners, selectors, emoji and letters of all scripts in any order; a word of a megabyte."""
    texts = list(spoilt_texts(1000))
    documents = [
        build_document({"id": f"d{n}", "sentences": [{"text": text} for text in texts[n : n + 5]]})
        for n in range(0, len(texts), 5)
    ]
    queries = texts[1:40]
    assert not list(
        differing_answers(elasticsearch_url, tmp_path / "index", documents, "multilingual", queries)
    )


@pytest.mark.endurance
@pytest.mark.parametrize("code", ["ar", "de", "es", "hi", "ru", "zh"])
def test_both_engines_find_the_same_in_real_text_of_a_language(
    elasticsearch_url: str, tmp_path: Path, code: str
) -> None:
    """Uses ../shared/collections/xquad-dev, where it is."""
    if not XQUAD.exists():
        pytest.skip("needs ../shared/collections/xquad-dev")
    source = XQUAD / code
    documents = [each.document for each in loaders.read_documents([str(source / "docs.jsonl.gz")])]
    topics = (source / "topics.tsv").read_text("utf-8").splitlines()
    queries = [line.split("\t")[1] for line in topics[:100]]
    analyzer = analyzer_for_language(code).name
    assert not list(differing_answers(elasticsearch_url, tmp_path / "index", documents, analyzer, queries))
