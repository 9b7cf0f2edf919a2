from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from werkzeug.serving import make_server

from tests.support.client_generator import generate_client, generate_types, run_typescript
from tests.support.needed import need
from webui.api.openapi import openapi_document
from webui.api.operation import BASE
from webui.api.operations import OPERATIONS
from webui.api.schemas import SCHEMAS
from webui.running.settings import Settings

pytestmark = pytest.mark.slow

CALLS: dict[str, dict[str, Any]] = {
    "search": {"q": "storm flood", "k": 3},
    "search_body": {"q": "storm flood", "k": 3, "fields": ["text", "matches"], "window": 2},
    "batch": {"queries": [{"id": "1", "query": "storm"}, {"id": "2", "query": "the"}], "k": 2},
    "facets": {"q": "storm flood"},
    "timeline": {"q": "storm"},
    "similar": {"id": "a.s1"},
    "values": {"field": "source"},
    "complete": {"q": "sto"},
    "explain": {"q": "storm flood", "id": "a.s1", "feature": ["subj:linear:0.5"], "prior_length": 0.5},
    "document": {"id": "a", "q": "storm"},
    "documents": {"id": ["a", "b"], "q": "storm"},
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
    if OPERATIONS[name].body:
        models = importlib.import_module("esr_client.models")
        body = getattr(models, "".join(word.capitalize() for word in name.split("_")) + "Body")
        arguments = {"body": body.from_dict(arguments)}
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


def test_a_generated_hit_has_what_was_asked_for_and_no_more(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    data = app.test_client().get(f"{BASE}/search?q=storm&fields=text,matches&window=1").get_json()
    (hit, *_) = models.Page.from_dict(data).hits
    assert (hit.matches[0].start, hit.window.before) == (data["hits"][0]["matches"][0]["start"], [])
    assert hit.score is importlib.import_module("esr_client.types").UNSET


@contextmanager
def listening(app: Flask) -> Iterator[str]:
    """The address of the API while the application is served."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}{BASE}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PROGRAM = """
import createClient from "openapi-fetch";
import type { paths, components } from "./schema.js";

const client = createClient<paths>({ baseUrl: "%s" });
const kinds: Record<string, string> = {};
function tell(name: string, response: Response, data: object | string | undefined): void {
  kinds[name] = `${response.status} ${data === undefined ? "error" : typeof data}`;
}
%s
const query = { q: "storm", fields: ["text", "score"] as ("text" | "score")[], k: 1 };
const { data } = await client.GET("/search", { params: { query } });
const hit: components["schemas"]["ListedHit"] = data!.hits[0]!;
const text: string = hit.text ?? "";
console.log(JSON.stringify({ kinds, text, score: hit.score! < 0 }));
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the types of the API in TypeScript."""
    folder = tmp_path_factory.mktemp("typed") / "client"
    generate_types(openapi_document(Settings(), BASE), folder)
    return folder


def call_in_typescript(name: str) -> str:
    operation, arguments = OPERATIONS[name], CALLS[name]
    query = {key.replace("prior_", "prior."): value for key, value in arguments.items()}
    given = {"body": arguments} if operation.body else {"params": {"query": query}} if query else {}
    call = f"await client.{operation.method}({json.dumps(operation.path)}, {json.dumps(given)})"
    return f"{{ const {{ data, response }} = {call}; tell({json.dumps(name)}, response, data); }}"


def test_a_generated_typescript_client_calls_every_operation(app: Flask, typed: Path) -> None:
    with listening(app) as address:
        program = PROGRAM % (address, "\n".join(map(call_in_typescript, OPERATIONS)))
        printed = json.loads(run_typescript(typed, program))
    assert printed["kinds"] == {name: "400 error" if name == "query" else "200 object" for name in OPERATIONS}
    assert "storm" in printed["text"].lower() and printed["score"]


def test_a_program_in_typescript_that_misuses_the_api_does_not_compile(typed: Path) -> None:
    wrong = PROGRAM % (
        "http://localhost",
        'await client.GET("/search", { params: { query: { k: "three" } } });',
    )
    with pytest.raises(AssertionError, match=r"program\.ts"):
        run_typescript(typed, wrong)


def closed(name: str) -> dict[str, Any]:
    """A schema of the document that allows no other fields than it describes."""

    def close(schema: Any, is_part: bool = False) -> Any:
        if isinstance(schema, list):
            return [close(each) for each in schema]
        if not isinstance(schema, Mapping):
            return schema
        if "allOf" in schema:
            parts = [SCHEMAS[p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in schema["allOf"]]
            return {"allOf": [close(part, True) for part in parts], "unevaluatedProperties": False}
        inside = {key: close(value) for key, value in schema.items() if key != "properties"}
        if "properties" in schema:
            inside["properties"] = {key: close(value) for key, value in schema["properties"].items()}
            if not is_part:
                inside.setdefault("additionalProperties", False)
        return inside

    schemas = {each: close(schema) for each, schema in SCHEMAS.items()}
    return {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "query"])
def test_an_answer_has_no_field_that_is_not_described(app: Flask, name: str) -> None:
    operation, arguments = OPERATIONS[name], CALLS[name]
    query = {key.replace("prior_", "prior."): value for key, value in arguments.items()}
    given = {"json": arguments} if operation.body else {"query_string": query}
    answer = app.test_client().open(BASE + operation.path, method=operation.method, **given)
    validator = Draft202012Validator(closed(operation.answer))
    assert [error.message for error in validator.iter_errors(answer.get_json())] == []
    assert not validator.is_valid(answer.get_json() | {"surprise": 1})


def test_a_generated_status_has_typed_fields(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    status = models.Status.from_dict(app.test_client().get(f"{BASE}/status").get_json())
    assert (status.documents, status.sentences, status.title) == (32, 65, True)
