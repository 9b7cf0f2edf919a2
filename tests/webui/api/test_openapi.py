from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from openapi_spec_validator import validate
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.openapi.checks import JsonSchemaError

from esr import models, priors
from webui.api.operation import BASE
from webui.api.operations import OPERATIONS
from webui.arguments.names import SEARCH_ARGUMENTS

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


@pytest.fixture
def described(client: FlaskClient) -> dict[str, Any]:
    found = client.get(f"{BASE}/openapi.json").json
    assert isinstance(found, dict)
    return found


def test_the_document_is_valid_openapi_3_1(described: dict[str, Any]) -> None:
    assert described["openapi"].startswith("3.1")
    validate(described)


def test_the_document_has_every_route_and_no_other(app: Flask, described: dict[str, Any]) -> None:
    routes = {
        (rule.rule.removeprefix(BASE), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for method in (rule.methods or set()) - {"HEAD"}
    }
    written = {(path, method) for path, methods in described["paths"].items() for method in methods}
    assert written == routes - {("/openapi.json", "get")}


def test_the_parameters_of_a_search_are_those_of_the_page_and_the_registries(
    described: dict[str, Any],
) -> None:
    written = {p["name"] for p in described["paths"]["/search"]["get"]["parameters"]}
    page = {name for name in SEARCH_ARGUMENTS if not name.endswith("NAME")}
    parameters = {f"params.{p.name}" for model in models.MODELS.values() for p in model.parameters}
    weights = {f"prior.{name}" for name in priors.PRIORS}
    page.remove("facet")  # what the page lists beside the sentences
    assert written == page | parameters | weights | {"offset", "after"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_argument_that_is_not_in_the_document_is_rejected(client: FlaskClient, name: str) -> None:
    operation = OPERATIONS[name]
    answer = client.open(BASE + operation.path + "?nosuch=1", method=operation.method)
    assert answer.status_code == 400
    assert answer.json is not None and answer.json["error"]["field"] == "nosuch"


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_generated_request_gets_a_server_error_or_an_undocumented_answer(app: Flask, name: str) -> None:
    statuses = fuzz(app, name)
    if name not in ("models", "query"):  # one has no arguments; the other has no answer for a folder
        assert min(statuses[200], statuses[400]) >= EXAMPLES / 20, statuses


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


def test_the_fuzzing_notices_an_undocumented_answer(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webui.api.status.HIDDEN", {"sentences"})
    with pytest.raises(FailureGroup) as caught:
        fuzz(app, "status")
    assert [type(error) for error in caught.value.exceptions] == [JsonSchemaError]
