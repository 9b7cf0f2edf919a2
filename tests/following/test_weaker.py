"""A ranked list says where its hits become weak: by words, and by words and meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from esr.enrichment.enricher import Enricher, VectorSettings
from esr.following import weaker
from esr.following.weaker import WEAK_RUN, find_weaker
from esr.index.runs.enrichment_run import run_enrichment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.document import Document, Sentence
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.index_contents import ENGINES, open_loaded

QUERY = "harbour flood rescue"
TEXTS = (
    "The harbour flood called for a rescue.",
    "A rescue followed the flood in the harbour.",
    "A flood came in May.",
    "The flood stayed for a week.",
    "No flood was seen again.",
    "A flood of letters arrived.",
    "The council met.",
)
WITH_THE_WORDS = 2


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Documents of one sentence, with vectors, on each engine."""
    folder: Path = tmp_path_factory.mktemp("weaker")
    encoder = str(write_tiny_encoder(folder / "tiny", 32, suits_hybrid=True))
    documents = [Document(f"d{n}", (Sentence(f"d{n}.s0", text),)) for n, text in enumerate(TEXTS)]
    with pytest.MonkeyPatch.context() as patch, open_loaded(request, folder, documents) as searcher:
        patch.setenv("ESR_ENCODER", encoder)
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
        yield searcher


def place_of_line(searcher: Searcher, query: str, ranking: str) -> int | None:
    prepared = searcher.prepare(query, Ranking.from_file(ranking))
    return find_weaker(prepared, prepared.search(len(TEXTS)).hits)


def set_strong(monkeypatch: pytest.MonkeyPatch, cosines: Mapping[str, tuple[float, float]]) -> None:
    monkeypatch.setattr(weaker, "STRONG_SIMILARITY", cosines)


def test_by_words_the_line_stands_before_the_first_hits_with_few_of_them(searcher: Searcher) -> None:
    assert place_of_line(searcher, QUERY, "words") == WITH_THE_WORDS
    assert place_of_line(searcher, "flood", "words") is None, "one word is in each hit"
    assert place_of_line(searcher, "harbour rescue", "words") is None, f"fewer than {WEAK_RUN} weak hits"


def test_a_word_that_no_document_has_makes_no_hit_weak(searcher: Searcher) -> None:
    assert place_of_line(searcher, f"{QUERY} harbuor rescu", "words") == WITH_THE_WORDS


def test_by_meaning_a_hit_is_weak_only_if_it_is_not_similar_either(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_strong(monkeypatch, {"tiny": (1.1, 1.1)})
    assert place_of_line(searcher, QUERY, "hybrid") is not None, "no sentence is that similar"
    set_strong(monkeypatch, {"tiny": (-1.1, -1.1)})
    assert place_of_line(searcher, QUERY, "hybrid") is None, "all are that similar"


def test_a_hit_with_few_of_the_words_must_be_more_similar(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_strong(monkeypatch, {"tiny": (-1.1, 1.1)})
    assert place_of_line(searcher, QUERY, "hybrid") is not None
    monkeypatch.setattr(weaker, "FEW_WORDS", 2)
    assert place_of_line(searcher, QUERY, "hybrid") is None, "the query has more words"
    monkeypatch.undo()
    set_strong(monkeypatch, {"tiny": (-1.1, 1.1)})
    monkeypatch.setattr(weaker, "SOME_SHARE", 0.0)
    assert place_of_line(searcher, QUERY, "hybrid") is None, "all have enough"


def test_a_list_by_an_encoder_that_was_not_measured_has_no_line(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_strong(monkeypatch, {"another": (1.1, 1.1)})
    assert place_of_line(searcher, QUERY, "hybrid") is None
    assert place_of_line(searcher, QUERY, "words") == WITH_THE_WORDS
