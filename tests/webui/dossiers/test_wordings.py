"""Wordings of items and their highlights, piece by piece."""

from __future__ import annotations

import random
import time

import pytest

from webui.dossiers.wordings import align_wordings, find_highlights, split_highlights


@pytest.mark.parametrize(("words", "every"), [(900, 5), (3_000, 600), (3_000, 5)])
def test_long_wordings_are_aligned_within_a_second(words: int, every: int) -> None:
    rng = random.Random(1)
    vocabulary = [f"w{n}" for n in range(3_000)]
    old = rng.choices(vocabulary, [1 / (n + 1) for n in range(3_000)], k=words)
    old = [word + ("." if n % 15 == 14 else "") for n, word in enumerate(old)]
    new = [word if n % every else f"new{n}" for n, word in enumerate(old)]
    before, now = " ".join(old), " ".join(new)
    start = time.process_time()
    pieces = align_wordings(before, now)
    assert time.process_time() - start < 1
    assert "".join(piece.before for piece in pieces) == before
    assert "".join(piece.now for piece in pieces) == now
    if words / every < 10:
        assert sum(not piece.is_same for piece in pieces) == words / every, "word by word in a few sentences"


def test_only_the_words_that_differ_are_marked() -> None:
    pieces = align_wordings("The town built a bridge in May.", "The town built two bridges in May.")
    assert [piece for piece in pieces if not piece.is_same] == [("a bridge", "two bridges")]


def test_words_are_highlighted_whatever_their_case_and_the_letters_before_them() -> None:
    text = "İstanbul and İzmir met Ankara halfway."  # İ has two characters in lower case
    marks = find_highlights(text, ["ankara", "and"], ())
    assert [piece.text for piece in split_highlights(text, marks) if piece.mark] == ["and", "Ankara"]
