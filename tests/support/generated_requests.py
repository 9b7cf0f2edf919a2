"""Generated requests, and the checks that their answers pass.

Imported by the tests that run it and not by their file: schemathesis takes two seconds of processor time to
import, which every process of a test run would spend on collecting tests.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from tests.support.runs import examples
from webui.api.operation import BASE
from webui.api.operations import OPERATIONS

load_all_checks()
CHECKED = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
        "unsupported_method",
    ]
)
EXAMPLES = examples(60)
GOOD_EXAMPLES = examples(15)
"""How many of them are made to be answered: of the rest, any number may be, from one day to the next."""
GOOD = {
    "search": {"q": "storm flood"},
    "facets": {"q": "storm flood"},
    "timeline": {"q": "storm", "also": "flood", "interval": "month"},
    "similar": {"id": "a.s1", "own_document": "yes"},
    "concordance": {"q": "storm"},
    "collocations": {"q": "storm", "min_count": 1},
    "quotes": {"speaker": "Ann Lee"},
    "statements": {"name": "Ann Lee"},
    "evidence": {"q": "storm flood"},
    "reuse": {"least": 2},
    "check": {"text": "the storm hit the coast"},
    "check_body": {},
    "names": {"type": "person"},
    "name": {"name": "Lee"},
    "network": {"least": 1},
    "contrast": {"q": "storm", "part": "source:x", "min_count": 1},
    "frequencies": {"q": "storm", "also": "flood", "by": "source"},
    "keyness": {"q": "storm", "min_count": 1},
    "values": {"field": "source"},
    "explain": {"q": "storm flood", "id": "a.s1"},
    "document": {"id": "a", "q": "storm"},
    "compare": {"q": "storm flood", "vs.model": "bm25"},
    "complete": {"q": "storm fl"},
    "analyze": {"text": "The U.S. troops"},
    "query": {"q": "storm"},
    "documents": {"id": ["a", "b"]},
    "status": {},
    "collection": {},
    "search_body": {},
    "batch": {},
}
"""Arguments that make an answer likely."""
GOOD_BODY = {
    "check_body": {"text": "He said: “the storm hit the coast”."},
    "batch": {"queries": [{"id": "1", "query": "storm flood"}]},
    "search_body": {"q": "storm flood"},
}
"""What makes an answer to a body likely."""


def checks_of(case: schemathesis.Case) -> list[Any]:
    """The checks. An empty argument counts as not given: it is not rejected, so that forms work."""
    blank = any(not value or not str(value).strip() for value in (case.query or {}).values())
    return [check for check in CHECKED if not blank or check.__name__ != "negative_data_rejection"]


def fuzz(app: Flask, name: str, good: dict[str, Any] | None = None) -> Counter[int]:
    """How often the answers had each status. `good`: arguments or keys that make an answer likely."""
    schema = schemathesis.openapi.from_wsgi(f"{BASE}/openapi.json", app)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    operation = schema[OPERATIONS[name].path][OPERATIONS[name].method]
    modes = {mode: operation.as_strategy(generation_mode=mode) for mode in GenerationMode}

    statuses: Counter[int] = Counter()

    def send(case: schemathesis.Case) -> None:
        statuses[case.call_and_validate(checks=checks_of(case)).status_code] += 1

    @_examples(EXAMPLES - GOOD_EXAMPLES)
    @given(st.data())
    def check_any(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from(list(modes)))
        case = data.draw(modes[mode])
        # Most generated texts are no words, and most settings do not fit each other.
        if mode is GenerationMode.POSITIVE and data.draw(st.integers(0, 3)):
            _make_likely(case, name, data, good)
        send(case)

    @_examples(GOOD_EXAMPLES)
    @given(st.data())
    def check_good(data: st.DataObject) -> None:
        case = data.draw(modes[GenerationMode.POSITIVE])
        _make_likely(case, name, data, good)
        send(case)

    check_any()
    check_good()
    return statuses


def _make_likely(
    case: schemathesis.Case, name: str, data: st.DataObject, good: dict[str, Any] | None
) -> None:
    """Leave one generated argument at most, beside those that make an answer likely."""
    if case.query:
        kept = data.draw(st.lists(st.sampled_from(sorted(case.query)), max_size=1))
        case.query = {n: v for n, v in case.query.items() if n in kept} | (good or GOOD[name])
    if isinstance(case.body, dict) and case.body:
        kept = data.draw(st.lists(st.sampled_from(sorted(case.body)), max_size=1))
        case.body = {n: v for n, v in case.body.items() if n in kept} | (good or GOOD_BODY[name])


def _examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
