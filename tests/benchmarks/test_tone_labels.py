"""The labels that the classifier of tone is measured with, and the figure that is measured."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from benchmarks.studies.subjectivity import measure_area
from benchmarks.studies.tone import DEVELOPMENT, FIRST, HELD_OUT, Label, measure_part, read_labels, read_texts
from esr.features.tone import Tone


def test_each_half_has_enough_positive_sentences() -> None:
    positive = Counter(label.part for label in read_labels() if label.sign == "+")
    assert positive[FIRST] == 48
    assert min(positive[HELD_OUT], positive[DEVELOPMENT]) >= 60


def test_no_sentence_is_labelled_twice() -> None:
    ids = [label.id for label in read_labels()]
    assert len(set(ids)) == len(ids) == 1260


def test_a_document_of_pud_is_in_the_half_that_its_name_decides() -> None:
    for label in read_labels():
        if label.part != FIRST and label.id.startswith("n"):
            is_odd = int(sha256(f"66b {label.id[:6]}".encode()).hexdigest(), 16) % 2 == 1
            assert (label.part == DEVELOPMENT) == is_odd, label.id


def test_the_area_counts_pairs_in_the_right_order_and_ties_half() -> None:
    label = np.array([True, True, False, False])
    assert measure_area(label, np.array([3.0, 2.0, 1.0, 0.0])) == (1.0, 0.0)
    area, error = measure_area(label, np.array([1.0, 0.0, 1.0, 0.0]))
    assert area == 0.5 and error == pytest.approx(0.3227, abs=1e-4)


def test_a_part_is_measured_by_its_own_labels() -> None:
    labels = [
        Label("a", HELD_OUT, True, "+"),
        Label("b", HELD_OUT, False, "-"),
        Label("c", HELD_OUT, False, "0"),
        Label("d", FIRST, True, "-"),
    ]
    tones = [Tone(2.0, 1.0, -1.0), Tone(1.0, 0.0, -2.0), Tone(0.0, 2.0, -3.0), Tone(-9.0, -9.0, 9.0)]
    areas, errors = measure_part(tones, labels, HELD_OUT)
    assert areas == [1.0, 0.5, 0.5]
    assert len(errors) == 3


def test_sentences_of_both_sources_are_found_by_their_ids(tmp_path: Path) -> None:
    pud, lines = tmp_path / "UD_French-PUD", tmp_path / "NTREX-128"
    pud.mkdir()
    lines.mkdir()
    (pud / "fr_pud-ud-test.conllu").write_text("# sent_id = n01001011\n# text = Bonjour.\n", "utf-8")
    (lines / "newstest2019-ref.fra.txt").write_text("Un.\nDeux.\n", "utf-8")
    texts = read_texts(tmp_path, tmp_path, "fr")
    assert (texts["n01001011"], texts["1"], texts["2"]) == ("Bonjour.", "Un.", "Deux.")
