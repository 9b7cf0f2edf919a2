"""What runs of the fuzzer found is answered, or refused by an error of esr's own."""

from __future__ import annotations

import pytest

from tests.fuzz.targets import CORPUS, TARGETS, read_corpus


@pytest.mark.parametrize("name", [path.stem for path in sorted(CORPUS.glob("*.txt"))])
def test_what_was_found_is_answered_or_refused(name: str) -> None:
    inputs = read_corpus(name)
    assert inputs
    for data in inputs:
        TARGETS[name].run(data)


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.iterdir()) < 200_000
