import pytest

from esr.text.document import DEFAULT_PARTS


def test_the_bare_pool_runs_what_the_parts_need() -> None:
    pytest.importorskip("spacy")
    from benchmarks.enrichment import COMPONENTS

    assert COMPONENTS.keys() == {DEFAULT_PARTS, *((part,) for part in DEFAULT_PARTS)}
