"""Which parts of a text are quotations, by their marks."""

from __future__ import annotations

import pytest

from esr.evidence.quotation_marks import find_quotations


@pytest.mark.parametrize(
    ("text", "quotations"),
    [
        ("He said “It rained. ” and left.", ["It rained."]),
        ('"One", then ««two»».', ["One", "two"]),
        ("It isn’t, he said, 'a storm' at 'sea'.", ["a storm", "sea"]),
        ("They praised 'the minister's plan'.", ["the minister's plan"]),
        ("They said 'the minister's plan' is “bold”.", ["bold"]),
        ("The readers' and writers' union.", []),
        ("“…” and “ ”, or “, ’”.", []),
        ("“First line\nstill open", ["First line"]),
    ],
)
def test_a_quotation_is_what_stands_between_marks_and_has_a_word(text: str, quotations: list[str]) -> None:
    assert [text[start:end] for start, end in find_quotations(text)] == quotations
