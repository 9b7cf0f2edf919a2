"""The operations of the API and their description, which clients are generated from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator, ValidationError

from esr import models
from esr.arguments.tables.table import PAGE as table_PAGE
from esr.dependency.dependence_signals import SIGNALS
from esr.errors import UsageError
from esr.features import FEATURES
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES
from esr.ranking import boosts
from esr.ranking.searcher import open_searcher
from esr.text.analyzer import get_analyzer
from tests.support.api_calls import CALLS, choose_call, fill_desk
from tests.support.page_corpus import error, get, ids
from tools.references.api import LIMITS, text
from webui.api.operation import BASE, ERRORS, json_response
from webui.api.operations import OPERATIONS
from webui.api.schemas import SCHEMAS
from webui.app import create_app
from webui.running.settings import Settings, parse_origins


def test_models_lists_every_registry(client: FlaskClient) -> None:
    found = get(client, "/models")

    def names(kind: str) -> list[str]:
        return [item["name"] for item in found[kind]]

    assert found["default"] == models.DEFAULT.name
    assert names("models") == list(models.MODELS)
    assert names("priors") == list(PRIORS)
    assert names("features") == list(FEATURES)
    assert names("forms") == list(FORMS)
    assert names("boosts") == list(boosts.BOOSTS)
    assert names("signals") == list(SIGNALS)
    assert found["contexts"] == dict(models.CONTEXTS)
    assert found["candidates"] == dict(CANDIDATES)


def test_the_parts_of_an_explanation_add_up_to_the_score_of_the_search(client: FlaskClient) -> None:
    arguments = {"q": "storm flood", "model": "dir", "prior__length": 0.5, "feature": "subj:linear:0.5"}
    best = get(client, "/search", **arguments)["hits"][0]
    found = get(client, "/explain", id=best["sentence_id"], **arguments)
    adds = [part["adds"] for kind in ("terms", "priors", "features") for part in found[kind]]
    assert math.fsum([*adds, found["length"]]) == pytest.approx(best["score"])
    assert (found["score"], found["text"]) == (pytest.approx(best["score"]), best["text"])


def test_a_document_has_all_sentences_with_the_scores_of_the_search(client: FlaskClient) -> None:
    plain = get(client, "/document", id="a")
    assert [each["id"] for each in plain["sentences"]] == ["a.s0", "a.s1", "a.s2"]
    assert plain["sentences"][1]["text"] == "The storms damaged forty houses."
    assert plain["title"] == "Title of a"
    assert {each["score"] for each in plain["sentences"]} == {None}
    scored = get(client, "/document", id="a", q="storm", model="bm25")
    hits = get(client, "/search", q="storm", model="bm25", document="a")["hits"]
    scores = {each["id"]: each["score"] for each in scored["sentences"]}
    assert [each["hit"] for each in scored["sentences"]] == [False, True, False]
    assert all(scores[hit["sentence_id"]] == pytest.approx(hit["score"]) for hit in hits)


@pytest.mark.parametrize("path", ["/document", "/explain"])
@pytest.mark.parametrize("name", ["nosuch", "a.s99", "<b>", "é", "../../etc/passwd", "a" * 300])
def test_an_unknown_id_is_a_404_that_names_the_argument(client: FlaskClient, path: str, name: str) -> None:
    failure = error(client, path, 404, id=name, q="storm")
    assert (failure["code"], failure["field"]) == ("not_found", "id")
    assert "/tmp" not in failure["message"]


@pytest.mark.parametrize("path", ["/document", "/explain"])
def test_an_id_is_required(client: FlaskClient, path: str) -> None:
    assert error(client, path, q="storm")["field"] == "id"
    assert error(client, path, q="storm", id="a" * 301)["field"] == "id"


def test_a_comparison_has_the_rank_of_each_sentence_in_the_other_list(client: FlaskClient) -> None:
    found = get(client, "/compare", q="storm flood", k=5, model="dir", vs__model="bm25")
    left, right = found["left"], found["right"]
    assert (left["ranking"]["model"], right["ranking"]["model"]) == ("dir", "bm25")
    for one, other in ((left, right), (right, left)):
        places = {name: rank for rank, name in enumerate(ids(other), 1)}
        assert [hit["other"] for hit in one["hits"]] == [places.get(name) for name in ids(one)]
    assert found["shared"] == len(set(ids(left)) & set(ids(right)))
    assert error(client, "/compare", q="storm", vs__model="nosuch")["field"] == "vs.model"


def test_a_text_becomes_the_terms_of_the_index_with_their_places(client: FlaskClient) -> None:
    answer = get(client, "/analyze", text=" The U.S. storms, Beyonce\u0301's ")
    text = answer["text"]
    assert text == "The U.S. storms, Beyonce\u0301's"
    assert (answer["analyzer"], answer["version"]) == ("english-stem", get_analyzer("english-stem").version)
    words = [(text[token["start"] : token["end"]], token["term"]) for token in answer["tokens"]]
    assert words == [("U.S", "us"), ("storms", "storm"), ("Beyonce\u0301's", "beyonc")]
    assert get(client, "/analyze", text="of the")["tokens"] == []


def test_a_text_to_analyze_is_required_and_as_long_as_a_query_at_most(client: FlaskClient) -> None:
    assert error(client, "/analyze")["field"] == "text"
    assert len(get(client, "/analyze", text="storm " * 300)["tokens"]) == 300
    assert error(client, "/analyze", text="x" * 2001)["field"] == "text"


def test_the_status_does_not_reveal_the_place_of_the_index(client: FlaskClient, where: str) -> None:
    answer = client.get("/api/v1/status")
    assert answer.json["sentences"] == 65
    assert answer.json["documents"] == 32
    assert where not in answer.text


def test_an_index_folder_has_no_request_for_elasticsearch(client: FlaskClient) -> None:
    failure = error(client, "/query", q="storm")
    assert "an index folder takes no requests" in failure["message"].lower()


def test_an_unknown_address_is_a_404_in_json(client: FlaskClient) -> None:
    for address in ("/api/v1", "/api/v1/", "/api/v2/search", "/api/v1/nosuch", "/nosuch.json"):
        answer = client.get(address)
        assert (answer.status_code, answer.json["error"]["code"]) == (404, "not_found")


def test_answers_have_the_headers_of_the_pages_and_no_cookie(client: FlaskClient) -> None:
    for address in ("/api/v1/search?q=storm", "/api/v1/search", "/api/v1/openapi.json"):
        headers = client.get(address).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Content-Security-Policy" in headers
        assert "Set-Cookie" not in headers


@pytest.fixture
def described(client: FlaskClient) -> dict[str, Any]:
    found = client.get(f"{BASE}/openapi.json").json
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_the_document_is_valid_openapi_3_1(described: dict[str, Any]) -> None:
    from openapi_spec_validator import validate  # here, as it takes a second to import

    assert described["openapi"].startswith("3.1")
    validate(described)


@pytest.mark.slow
def test_the_document_has_every_route_and_no_other(app: Flask, described: dict[str, Any]) -> None:
    routes = {
        (rule.rule.removeprefix(BASE), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for method in (rule.methods or set()) - {"HEAD"}
    }
    written = {(path, method) for path, methods in described["paths"].items() for method in methods}
    assert written == routes - {("/openapi.json", "get")}


@pytest.mark.slow
def test_the_parameters_of_a_search_are_those_of_the_page_and_the_registries(
    described: dict[str, Any],
) -> None:
    parameters_of_search = described["paths"]["/search"]["get"]["parameters"]
    written = {p["name"] for p in parameters_of_search if not p.get("deprecated")}
    assert {p["name"] for p in parameters_of_search} - written == {"from", "to", "syntax", "depth"}
    page = {name for name in table_PAGE if not name.endswith("NAME")}
    parameters = {f"params.{p.name}" for model in models.MODELS.values() for p in model.parameters}
    weights = {f"prior.{name}" for name in PRIORS}
    page.remove("facet")  # what the page lists beside the sentences
    assert written == page | parameters | weights | {"offset", "cursor", "fields", "window", "budget"}


@pytest.mark.slow
def test_what_a_page_counts_is_described_for_groups(described: dict[str, Any]) -> None:
    texts = {p["name"]: p["description"] for p in described["paths"]["/search"]["get"]["parameters"]}
    page = described["components"]["schemas"]["Page"]["properties"]
    for described_text in (texts["k"], texts["offset"], page["documents"]["description"]):
        assert "documents" in described_text
    assert "sentences" in page["total"]["description"]


@pytest.mark.slow
def test_a_hit_has_the_fields_that_are_described_and_no_others(
    client: FlaskClient, described: dict[str, Any]
) -> None:
    schemas = described["components"]["schemas"]
    hits = client.get(f"{BASE}/search?q=storm").get_json()["hits"]
    fields = frozenset(schemas["Hit"]["properties"])
    assert {frozenset(hit) for hit in hits} == {fields | {"passage", "folded", "more", "reason"}}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_argument_that_is_not_in_the_document_is_rejected(client: FlaskClient, name: str) -> None:
    operation = OPERATIONS[name]
    answer = client.open(BASE + operation.path + "?nosuch=1", method=operation.method)
    assert answer.status_code == 400
    assert answer.json is not None and answer.json["error"]["field"] == "nosuch"


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_generated_request_gets_a_server_error_or_an_undocumented_answer(
    app: Flask, name: str, where: str, tmp_path: Path
) -> None:
    from tests.support.generated_requests import EXAMPLES, fuzz

    if name.startswith(("dossier", "alert")):
        app, good = fill_desk(where, tmp_path)
        statuses = fuzz(app, name, good[name])
        if name not in ("alerts", "dossier_delete", "alert_delete"):  # there is one to delete, once
            assert min(statuses[200], statuses[400]) >= EXAMPLES / 20, statuses
        assert not statuses[403]
        return
    statuses = fuzz(app, name)
    if name not in ("models", "query"):  # one has no arguments; the other has no answer for a folder
        assert min(statuses[200], statuses[400]) >= EXAMPLES / 20, statuses


@pytest.mark.slow
def test_the_fuzzing_notices_an_undocumented_answer(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    from schemathesis.core.failures import FailureGroup
    from schemathesis.openapi.checks import JsonSchemaError

    from tests.support.generated_requests import fuzz

    monkeypatch.setattr("webui.api.handlers.HIDDEN", {"sentences"})
    with pytest.raises(FailureGroup) as caught:
        fuzz(app, "status")
    assert {type(error) for error in caught.value.exceptions} == {JsonSchemaError}


def test_any_parser_accepts_the_json_of_an_answer() -> None:
    with Flask("test").app_context():
        text = json_response({"score": float("nan"), "text": "é"}).get_data(as_text=True)

    def reject(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(text, parse_constant=reject) == {"score": None, "text": "é"}


SEARCH = f"{BASE}/search?q=storm"


def test_an_answer_that_a_client_has_is_not_sent_again(where: str, client: FlaskClient) -> None:
    client.get(SEARCH)  # the first one may say that the kernel is being compiled
    first = client.get(SEARCH)
    tag = {"If-None-Match": first.headers["ETag"]}
    again = client.get(SEARCH, headers=tag)
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert client.get("/search.json?q=storm", headers=tag).status_code == 304
    for address in (SEARCH + "&k=1", f"{BASE}/models", f"{BASE}/status"):
        assert client.get(address, headers=tag).status_code == 200
    assert client.get(SEARCH, headers={"If-None-Match": 'W/"0"'}).json["total"] == first.get_json()["total"]


def test_errors_and_answers_to_bodies_have_no_tag(client: FlaskClient) -> None:
    assert "ETag" not in client.get(f"{BASE}/search?q=storm&k=0").headers
    assert "ETag" not in client.post(f"{BASE}/search", json={"q": "storm"}).headers


ORIGIN = {"Origin": "https://a.example"}


def test_pages_of_the_named_origins_may_use_the_api(where: str) -> None:
    settings = Settings(access_log=0, rate="4/minute", cors_origins="https://a.example http://b.example:8080")
    client = create_app(open_searcher(where), settings).test_client()
    asks = {"Access-Control-Request-Method": "POST"}
    preflight = client.options(SEARCH, headers=ORIGIN | asks)
    assert (preflight.status_code, preflight.data) == (204, b"")
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in preflight.headers["Access-Control-Allow-Headers"]
    assert client.options(SEARCH, headers={"Origin": "https://c.example"} | asks).status_code == 405
    answers = [
        client.get(address, headers=ORIGIN) for address in [SEARCH, f"{BASE}/search?k=0", SEARCH, SEARCH]
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 200, 429]  # the refused one counts
    for answer in (preflight, *answers):
        assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"
        assert "Origin" in answer.headers["Vary"]
        assert "RateLimit-Remaining" in answer.headers["Access-Control-Expose-Headers"]
    for origin in ("https://a.example.org", "http://a.example", "null"):
        assert "Access-Control-Allow-Origin" not in client.get(SEARCH, headers={"Origin": origin}).headers
    assert "Access-Control-Allow-Origin" not in client.get("/healthz", headers=ORIGIN).headers


def test_pages_of_other_sites_may_not_use_the_api_by_default(where: str, client: FlaskClient) -> None:
    answer = client.get(SEARCH, headers=ORIGIN)
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]
    open_to_all = create_app(open_searcher(where), Settings(access_log=0, cors_origins="*")).test_client()
    assert open_to_all.get(SEARCH, headers=ORIGIN).headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("origins", ["a.example", "https://", "https://a.example/page", "ftp://a.example"])
def test_an_origin_that_is_none_is_one_message(origins: str) -> None:
    with pytest.raises(UsageError, match="give origins such as"):
        parse_origins(origins)
    assert parse_origins("") == frozenset()


def test_a_document_is_one_of_several(client: FlaskClient) -> None:
    several = get(client, "/documents", id=["b", "nope", "a", "b"], q="flood")
    assert several["missing"] == ["nope"]
    assert several["documents"] == [get(client, "/document", id=id, q="flood") for id in ("b", "a")]
    error = client.get(f"{BASE}/documents?" + "&".join(f"id={n}" for n in range(101))).get_json()["error"]
    assert error["field"] == "id" and "at most 100" in error["message"]


PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"


def test_the_page_is_what_its_generator_prints() -> None:
    assert PAGE.read_text("utf-8") == text(), "run: python -m tools.references.api > docs/api.md"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_the_page_describes_every_operation_and_its_arguments(operation) -> None:  # type: ignore[no-untyped-def]
    page = text()
    section = page.split(f"## {operation.method} /api/v1{operation.path}\n", 1)[1].split("\n## ", 1)[0]
    assert operation.summary in section
    for parameter in operation.arguments:
        assert f"| `{parameter.name.removeprefix('vs.')}` |" in page


def test_the_page_lists_every_status_and_the_limits() -> None:
    assert all(f"| {status} | {meaning} |" in text() for status, meaning in ERRORS.items())
    helps = {row.name: row.help for row in Settings.table()}
    assert all(helps[name] in text() for name in LIMITS)


def check_schema(name: str, data: object) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    Draft202012Validator(schema).validate(data)


def test_hits_have_the_required_fields_unless_a_request_chooses_fields(client: FlaskClient) -> None:
    assert {"sentence_id", "document_id", "score", "text", "title"} <= {*SCHEMAS["ListedHit"]["required"]}
    for path in ("search?q=storm", "search?q=storm&window=1", f"similar?id={CALLS['similar']['id']}"):
        hits = client.get(f"{BASE}/{path}").get_json()["hits"]
        assert hits
        for hit in hits:
            check_schema("ListedHit", hit)
    (hit, *_) = client.get(f"{BASE}/search?q=storm&fields=text").get_json()["hits"]
    check_schema("ChosenHit", hit)
    with pytest.raises(ValidationError, match="is a required property"):
        check_schema("ListedHit", hit)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"q": "storm " * 900}, f"'q': has more than {Settings().query_chars:,} characters"),
        ({"q": "storm", "fields": ["text"] * 900}, f"has more than {Settings().arguments:,} items"),
        ({"q": ["storm"] * 900}, "'q': is not of type string"),
    ],
    ids=["maxLength", "maxItems", "type"],
)
def test_an_error_of_a_body_names_the_limit(client: FlaskClient, body: object, message: str) -> None:
    answer = client.post(f"{BASE}/search", json=body)
    assert answer.status_code == 400
    assert message in answer.get_json()["error"]["message"]


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


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "query"])
def test_an_answer_has_no_field_that_is_not_described(
    app: Flask, name: str, where: str, tmp_path: Path
) -> None:
    app, arguments = choose_call(name, app, where, tmp_path)
    operation = OPERATIONS[name]
    query = {key.replace("prior_", "prior."): value for key, value in arguments.items()}
    given = {"json": arguments} if operation.body else {"query_string": query}
    answer = app.test_client().open(BASE + operation.path, method=operation.method, **given)
    validator = Draft202012Validator(closed(operation.answer))
    assert [error.message for error in validator.iter_errors(answer.get_json())] == []
    assert not validator.is_valid(answer.get_json() | {"surprise": 1})
