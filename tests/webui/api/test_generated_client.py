from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from flask import Flask

from tests.support.client_generator import generate_client
from tests.support.needed import need
from webui.api.openapi import openapi_document
from webui.api.operation import BASE
from webui.api.operations import OPERATIONS
from webui.running.settings import Settings

pytestmark = pytest.mark.slow

CALLS: dict[str, dict[str, Any]] = {
    "search": {"q": "storm flood", "k": 3},
    "batch": {"queries": [{"id": "1", "query": "storm"}, {"id": "2", "query": "the"}], "k": 2},
    "facets": {"q": "storm flood"},
    "timeline": {"q": "storm"},
    "similar": {"id": "a.s1"},
    "values": {"field": "source"},
    "complete": {"q": "sto"},
    "explain": {"q": "storm flood", "id": "a.s1", "feature": ["subj:linear:0.5"], "prior_length": 0.5},
    "document": {"id": "a", "q": "storm"},
    "compare": {"q": "storm flood"},
    "analyze": {"text": "The storms came."},
    "models": {},
    "status": {},
    "query": {"q": "storm"},
}
"""For each operation, arguments that it answers. A folder answers `query` with an error."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package of a generated client."""
    for module in ("attrs", "httpx", "dateutil"):
        need(module)
    folder = tmp_path_factory.mktemp("generated") / "client"
    generate_client(openapi_document(Settings(), BASE), folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("esr_client")


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_generated_client_reads_all_of_an_answer(generated: ModuleType, app: Flask, name: str) -> None:
    import httpx

    base = f"http://localhost{BASE}"
    client = generated.Client(base_url=base)
    client.set_httpx_client(httpx.Client(transport=httpx.WSGITransport(app=app), base_url=base))
    call = importlib.import_module(f"esr_client.api.default.{name}").sync_detailed
    arguments = CALLS[name]
    if name == "batch":
        models = importlib.import_module("esr_client.models")
        arguments = {"body": models.BatchBody.from_dict(arguments)}
    answer = call(client=client, **arguments)
    assert answer.status_code == (400 if name == "query" else 200), answer.content
    expected = "Error" if name == "query" else OPERATIONS[name].answer
    assert type(answer.parsed).__name__ == expected
    assert answer.parsed.to_dict() == json.loads(answer.content)


def test_a_generated_client_tells_answers_of_a_batch_from_errors(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    answers = app.test_client().post(f"{BASE}/batch", json=CALLS["batch"]).get_json()
    kinds = [type(answer) for answer in models.Batch.from_dict(answers).answers]
    assert kinds == [models.BatchAnswer, models.BatchError]


def test_a_generated_comparison_has_typed_hits(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    data = app.test_client().get(f"{BASE}/compare?q=storm").get_json()
    (hit, *_) = models.Comparison.from_dict(data).left.hits
    assert type(hit) is models.ComparedHit
    assert (hit.rank, hit.sentence_id) == (1, data["left"]["hits"][0]["sentence_id"])
    assert hit.additional_properties == {}


def test_a_generated_status_has_typed_fields(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    status = models.Status.from_dict(app.test_client().get(f"{BASE}/status").get_json())
    assert (status.documents, status.sentences, status.title) == (32, 65, True)
