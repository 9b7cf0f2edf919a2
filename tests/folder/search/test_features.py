"""Columns of features over several segments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esr.folder.index import EmbeddedIndex
from esr.text.document import Sentence
from tests.support.folder_index import document, load

NAN = float("nan")


@pytest.fixture
def index(where: Path, small_segments: None) -> EmbeddedIndex:
    """Three documents, each in a segment of its own; the last has no feature."""
    load(
        where,
        [
            document("a", Sentence("a.s0", "one", {"subj": 0.5}), Sentence("a.s1", "one two")),
            document("b", Sentence("b.s0", "one two three", {"subj": 2.0, "pos": 1.0})),
            document("c", "one two three four", "one", ""),
        ],
    )
    return EmbeddedIndex(str(where))


def test_evidence_is_in_the_order_of_the_ids(index: EmbeddedIndex) -> None:
    ids = ["c.s1", "a.s1", "b.s0", "c.s0", "a.s0"]
    evidence = index.evidence(["two"], ids, ["features.subj", "features.pos", "features.none", "position"])
    assert evidence.lengths["sentence"].tolist() == [1, 2, 3, 4, 1]
    assert evidence.counts["sentence"].tolist() == [[0, 1, 1, 1, 0]]
    assert evidence.columns["position"].tolist() == [1, 1, 0, 0, 0]
    np.testing.assert_array_equal(evidence.columns["features.subj"], [NAN, NAN, 2, NAN, 0.5])
    np.testing.assert_array_equal(evidence.columns["features.pos"], [NAN, NAN, 1, NAN, NAN])
    assert np.isnan(evidence.columns["features.none"]).all()
    assert index.evidence(["two"], ids).columns.keys() == {"length", "importance", "importance_surrounding"}


def test_a_histogram_counts_the_sentences_of_every_segment(index: EmbeddedIndex) -> None:
    lengths, subjective = index.histogram("length"), index.histogram("features.subj")
    assert dict(zip(lengths.values, lengths.counts, strict=True)) == {0: 1, 1: 2, 2: 1, 3: 1, 4: 1}
    assert (subjective.values.tolist(), subjective.counts.tolist()) == ([0.5, 2.0], [1, 1])
    assert len(index.histogram("features.none").values) == 0
    assert index.histogram("importance").counts.sum() == 6


def test_features_are_named_once(index: EmbeddedIndex) -> None:
    assert index.features() == ["pos", "subj"]
