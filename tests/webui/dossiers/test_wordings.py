"""Wordings of items and their highlights, piece by piece."""

from __future__ import annotations

from webui.dossiers.wordings import find_highlights, split_highlights


def test_words_are_highlighted_whatever_their_case_and_the_letters_before_them() -> None:
    text = "İstanbul and İzmir met Ankara halfway."  # İ has two characters in lower case
    marks = find_highlights(text, ["ankara", "and"], ())
    assert [piece.text for piece in split_highlights(text, marks) if piece.mark] == ["and", "Ankara"]
