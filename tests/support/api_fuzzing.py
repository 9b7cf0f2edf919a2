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
EXAMPLES = 60
GOOD = {
    "search": {"q": "storm flood"},
    "facets": {"q": "storm flood"},
    "timeline": {"q": "storm", "also": "flood", "interval": "month"},
    "similar": {"id": "a.s1", "own": "yes"},
    "values": {"field": "source"},
    "explain": {"q": "storm flood", "id": "a.s1"},
    "document": {"id": "a", "q": "storm"},
    "compare": {"q": "storm flood", "vs.model": "bm25"},
    "complete": {"q": "storm fl"},
    "analyze": {"text": "The U.S. troops"},
    "query": {"q": "storm"},
    "status": {},
    "batch": {},
}
"""Arguments that make an answer likely."""
GOOD_BODY = {"queries": [{"id": "1", "query": "storm flood"}]}
"""What of a batch's body makes an answer likely."""


def checks_of(case: schemathesis.Case) -> list[Any]:
    """The checks. An empty argument counts as not given: it is not rejected, so that forms work."""
    blank = any(not value or not str(value).strip() for value in (case.query or {}).values())
    return [check for check in CHECKED if not blank or check.__name__ != "negative_data_rejection"]


def fuzz(app: Flask, name: str) -> Counter[int]:
    """How often the answers had each status."""
    schema = schemathesis.openapi.from_wsgi(f"{BASE}/openapi.json", app)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    operation = schema[OPERATIONS[name].path][OPERATIONS[name].method]
    modes = {mode: operation.as_strategy(generation_mode=mode) for mode in GenerationMode}

    statuses: Counter[int] = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from(list(modes)))
        case = data.draw(modes[mode])
        if mode is GenerationMode.POSITIVE and case.query and data.draw(st.integers(0, 3)):
            # Most generated texts are no words, and most settings do not fit each other.
            kept = data.draw(st.lists(st.sampled_from(sorted(case.query)), max_size=1))
            case.query = {n: v for n, v in case.query.items() if n in kept} | GOOD[name]
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict) and data.draw(st.integers(0, 3)):
            kept = data.draw(st.lists(st.sampled_from(sorted(case.body)), max_size=1))
            case.body = {n: v for n, v in case.body.items() if n in kept} | GOOD_BODY
        statuses[case.call_and_validate(checks=checks_of(case)).status_code] += 1

    check()
    return statuses
