"""Stems of Snowball are the same compiled and in Python."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from esr.text.analysis.snowball import get_stemmer, interpreted_stemmer, is_compiled

DOCS = Path(__file__).parents[2] / "docs" / "languages.md"
WORDS = sorted(set(re.findall(r"[^\W\d_]+", DOCS.read_text("utf-8").lower())))
LETTERS = [
    "sequía",
    "économiques",
    "größte",
    "kvällarna",
    "μεγάλη",
    "перевозками",
    "الكتابات",
    "çalışmalar",
    "देशों",
]
LANGUAGES = ["arabic", "english", "finnish", "french", "greek", "hindi", "russian", "spanish", "turkish"]


@pytest.fixture
def without_pystemmer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    get_stemmer.cache_clear()
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    yield
    get_stemmer.cache_clear()


@pytest.mark.skipif(not is_compiled(), reason="PyStemmer has no wheels here: snowballstemmer takes its place")
@pytest.mark.parametrize("language", LANGUAGES)
def test_both_packages_have_the_same_stems(language: str) -> None:
    compiled, interpreted = get_stemmer(language), interpreted_stemmer(language)
    words = [*WORDS, *LETTERS]
    assert [interpreted(word) for word in words] == [compiled(word) for word in words]


@pytest.mark.usefixtures("without_pystemmer")
def test_words_are_stemmed_where_pystemmer_is_missing() -> None:
    assert not is_compiled()
    assert get_stemmer("english")("earthquakes") == "earthquak"


def test_threads_share_a_stemmer() -> None:
    stem = interpreted_stemmer("english")
    expected = list(map(stem, WORDS))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(stems == expected for stems in threads.map(lambda _: list(map(stem, WORDS)), range(4)))
    finally:
        sys.setswitchinterval(interval)
