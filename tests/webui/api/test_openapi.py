from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from esr import models
from esr.models import priors
from webui.api.operation import BASE
from webui.api.operations import OPERATIONS
from webui.arguments.table import PAGE

pytestmark = pytest.mark.slow


@pytest.fixture
def described(client: FlaskClient) -> dict[str, Any]:
    found = client.get(f"{BASE}/openapi.json").json
    assert isinstance(found, dict)
    return found


def test_the_document_is_valid_openapi_3_1(described: dict[str, Any]) -> None:
    from openapi_spec_validator import validate  # here, as it takes a second to import

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
    page = {name for name in PAGE if not name.endswith("NAME")}
    parameters = {f"params.{p.name}" for model in models.MODELS.values() for p in model.parameters}
    weights = {f"prior.{name}" for name in priors.PRIORS}
    page.remove("facet")  # what the page lists beside the sentences
    assert written == page | parameters | weights | {"offset", "after", "fields", "window", "budget"}


def test_what_a_page_counts_is_described_for_groups(described: dict[str, Any]) -> None:
    texts = {p["name"]: p["description"] for p in described["paths"]["/search"]["get"]["parameters"]}
    page = described["components"]["schemas"]["Page"]["properties"]
    for text in (texts["k"], texts["offset"], page["documents"]["description"]):
        assert "documents" in text
    assert "sentences" in page["total"]["description"]


def test_a_hit_has_the_fields_that_are_described_and_no_others(
    client: FlaskClient, described: dict[str, Any]
) -> None:
    schemas = described["components"]["schemas"]
    hits = client.get(f"{BASE}/search?q=storm").get_json()["hits"]
    fields = frozenset(schemas["Hit"]["properties"])
    assert {frozenset(hit) for hit in hits} == {fields | {"folded"}}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_argument_that_is_not_in_the_document_is_rejected(client: FlaskClient, name: str) -> None:
    operation = OPERATIONS[name]
    answer = client.open(BASE + operation.path + "?nosuch=1", method=operation.method)
    assert answer.status_code == 400
    assert answer.json is not None and answer.json["error"]["field"] == "nosuch"


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_generated_request_gets_a_server_error_or_an_undocumented_answer(app: Flask, name: str) -> None:
    from tests.support.api_fuzzing import EXAMPLES, fuzz

    statuses = fuzz(app, name)
    if name not in ("models", "query"):  # one has no arguments; the other has no answer for a folder
        assert min(statuses[200], statuses[400]) >= EXAMPLES / 20, statuses


def test_the_fuzzing_notices_an_undocumented_answer(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    from schemathesis.core.failures import FailureGroup
    from schemathesis.openapi.checks import JsonSchemaError

    from tests.support.api_fuzzing import fuzz

    monkeypatch.setattr("webui.api.handlers.HIDDEN", {"sentences"})
    with pytest.raises(FailureGroup) as caught:
        fuzz(app, "status")
    assert {type(error) for error in caught.value.exceptions} == {JsonSchemaError}
