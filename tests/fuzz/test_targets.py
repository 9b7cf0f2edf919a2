"""What runs of the fuzzer found is answered, or refused by an error of esr's own."""

from __future__ import annotations

import pytest

from tests.fuzz.targets import CORPUS, TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_is_answered_or_refused(name: str) -> None:
    for path in sorted((CORPUS / name).glob("*")):
        TARGETS[name].run(path.read_bytes())


def test_each_folder_of_the_corpus_has_a_target_and_all_are_small() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(TARGETS)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 200_000
