"""The terms that a load stores of a document are those of its sentences, read from the spool's postings."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.elastic.impacts import FIRST
from esr.elastic.write.actions import (
    DocumentTerms,
    PostingsByDocument,
    SegmentTerms,
    repeat_terms,
)
from esr.elastic.write.spool import write_spool
from esr.folder.format import postings
from esr.index.writer import Description
from esr.text.document import Located
from tests.elastic.test_statistics import upper_bits
from tests.support.elasticsearch import (
    unpack_maxima,
)
from tests.support.folder_index import document as located_document

words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=40) | st.builds(
    lambda n, rest: ["a"] * n + rest, st.integers(1, 400), st.lists(st.sampled_from("bcd"), max_size=5)
)


def read_terms(documents: list[Located], title: bool = False) -> list[DocumentTerms]:
    """What a load stores of each document."""
    with tempfile.TemporaryDirectory() as folder:
        spool = write_spool(Path(folder) / "spool", Description("plain", title), documents)
        (segment,) = spool.segments
        terms = SegmentTerms(spool, 0, PostingsByDocument(segment))
        return [terms.read_document(number) for number in range(segment.document_count)]


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 1 << 17])
@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(words.filter(bool), min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_stored_numbers_are_those_of_the_sentences(batch: int, texts: list[list[list[str]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "BATCH", batch)
        stored = read_terms([located_document(f"d{n}", *map(" ".join, text)) for n, text in enumerate(texts)])
    for of_document, sentences in zip(stored, texts, strict=True):
        every = [term for terms in sentences for term in terms]
        around = [[*chain(*sentences[max(n - 1, 0) : n + 2])] for n in range(len(sentences))]
        assert Counter(of_document.context.split()) == Counter(every)
        assert (of_document.distinct, of_document.length) == (len(set(every)), len(every))
        assert of_document.lengths == list(map(len, sentences))
        assert of_document.surrounding_lengths == list(map(len, around))
        maxima = {term: unpack_maxima(upper_bits(w) - FIRST) for term, w in of_document.maxima.items()}
        assert maxima.keys() == set(every)
        for term, (count, length, share) in maxima.items():
            counts = [terms.count(term) for terms in sentences]
            greatest = max(terms.count(term) / len(terms) for terms in around)
            shortest = min(len(terms) for terms in sentences if term in terms)
            assert max(counts) <= count and (count == max(counts) or max(counts) > 4)
            assert shortest / 1.25 < length <= shortest or length == 224
            assert greatest <= share < max(greatest * 1.25001, 2.0**-14)


def test_a_title_counts_where_it_is_indexed_and_has_no_maxima() -> None:
    only, with_title = (
        read_terms([located_document("d", "a b", title="c a")], title)[0] for title in (False, True)
    )
    assert (sorted(only.context.split()), only.length, only.distinct) == (["a", "b"], 2, 2)
    repeated = sorted(with_title.context.split())
    assert (repeated, with_title.length, with_title.distinct) == (["a", "a", "b", "c"], 4, 3)
    assert only.maxima == with_title.maxima and only.maxima.keys() == {"a", "b"}


def test_documents_without_terms_store_none() -> None:
    documents = [located_document("1", "..."), located_document("2", "a"), located_document("3", "!", "?")]
    empty, other, last = read_terms(documents)
    assert empty == DocumentTerms("", 0, 0, [0], [0], {})
    assert other.context == "a"
    assert last.lengths == last.surrounding_lengths == [0, 0]


def test_a_collection_whose_terms_are_in_titles_only_has_no_maxima() -> None:
    (terms,) = read_terms([located_document("d", "...", title="a")], title=True)
    assert (terms.context, terms.maxima) == ("a", {})


def test_a_context_has_each_term_as_often_as_it_is_counted() -> None:
    counts = np.array([1, 3, 1, 200], np.uint8)
    repeated = repeat_terms(["rain", "flood", "river", "the"], counts).split()
    assert Counter(repeated) == {"rain": 1, "flood": 3, "river": 1, "the": 200}
    assert " ".join(repeated[:8]) == "the flood river rain the flood the flood"
    assert repeat_terms([], np.array([], np.uint8)) == ""
