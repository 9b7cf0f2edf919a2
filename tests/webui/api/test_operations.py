"""Generated requests, and the checks that their answers pass.

Imported by the tests that run it and not by their file: schemathesis takes two seconds of processor time to
import, which every process of a test run would spend on collecting tests.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from esr import models
from esr.dependency.signals import SIGNALS
from esr.features import FEATURES
from esr.models import priors
from esr.models.forms import FORMS
from esr.plans.plan import CANDIDATES
from esr.ranking import boosts
from esr.text.analyzer import get_analyzer
from tests.support.distribution import cache_folder, fill_and_rename, locked
from tests.support.needed import end_test, need
from tests.support.page_corpus import error, get, ids
from webui.api.openapi import openapi_document
from webui.api.operation import BASE, ERRORS, json_response
from webui.api.operations import OPERATIONS
from webui.api.reference import LIMITS, text
from webui.arguments.query_string import SEARCH_ARGUMENTS
from webui.running.settings import Settings


def test_models_lists_every_registry(client: FlaskClient) -> None:
    found = get(client, "/models")

    def names(kind: str) -> list[str]:
        return [item["name"] for item in found[kind]]

    assert found["default"] == models.DEFAULT.name
    assert names("models") == list(models.MODELS)
    assert names("priors") == list(priors.PRIORS)
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
    written = {p["name"] for p in described["paths"]["/search"]["get"]["parameters"]}
    page = {name for name in SEARCH_ARGUMENTS if not name.endswith("NAME")}
    parameters = {f"params.{p.name}" for model in models.MODELS.values() for p in model.parameters}
    weights = {f"prior.{name}" for name in priors.PRIORS}
    page.remove("facet")  # what the page lists beside the sentences
    assert written == page | parameters | weights | {"offset", "after"}


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
    assert {frozenset(hit) for hit in hits} == {fields | {"folded"}}


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_fuzzing_notices_an_undocumented_answer(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    from schemathesis.core.failures import FailureGroup
    from schemathesis.openapi.checks import JsonSchemaError

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


PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"


def test_the_page_is_what_its_generator_prints() -> None:
    assert PAGE.read_text("utf-8") == text(), "run: python -m webui.api.reference > docs/api.md"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_the_page_describes_every_operation_and_its_arguments(operation) -> None:  # type: ignore[no-untyped-def]
    page = text()
    section = page.split(f"## {operation.method} /api/v1{operation.path}\n", 1)[1].split("\n## ", 1)[0]
    assert operation.summary in section
    for parameter in operation.parameters(Settings()):
        assert f"| `{parameter.name.removeprefix('vs.')}` |" in page


def test_the_page_lists_every_status_and_the_limits() -> None:
    assert all(f"| {status} | {meaning} |" in text() for status, meaning in ERRORS.items())
    helps = {row.name: row.help for row in Settings.table()}
    assert all(helps[name] in text() for name in LIMITS)


# A client of the API, generated from its OpenAPI document as users of the API generate theirs.


PACKAGES = ("openapi-python-client==0.29.1", "typer==0.27.3")
"""The generator, and the release of typer that it asks for, which is older than spaCy's."""


def generate_client(document: dict[str, Any], folder: Path) -> None:
    """Write the client's package into a folder. Fails where the generator leaves anything out."""
    folder.mkdir()
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "config.yml").write_text("post_hooks: []\n")
    paths = [f"--path={folder / 'openapi.json'}", f"--config={folder / 'config.yml'}"]
    output = [f"--output-path={folder / 'esr_client'}", "--meta=none", "--fail-on-warning"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", *paths, *output],
        env={**os.environ, "PYTHONPATH": str(_install())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _install() -> Path:
    """The folder with the generator, apart from the environment: installed once per user."""
    final = cache_folder() / PACKAGES[0].replace("==", "-")
    with locked(final.parent):
        if not final.is_dir():
            try:
                fill_and_rename(final, _fetch)
            except subprocess.CalledProcessError as error:
                end_test(f"needs {PACKAGES[0]} of a package registry: {error.stderr.strip()}")
    return final


def _fetch(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--target", str(folder), *PACKAGES]
    subprocess.run(command, check=True, capture_output=True, text=True)


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_generated_client_tells_answers_of_a_batch_from_errors(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    answers = app.test_client().post(f"{BASE}/batch", json=CALLS["batch"]).get_json()
    kinds = [type(answer) for answer in models.Batch.from_dict(answers).answers]
    assert kinds == [models.BatchAnswer, models.BatchError]


@pytest.mark.slow
def test_a_generated_comparison_has_typed_hits(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    data = app.test_client().get(f"{BASE}/compare?q=storm").get_json()
    (hit, *_) = models.Comparison.from_dict(data).left.hits
    assert type(hit) is models.ComparedHit
    assert (hit.rank, hit.sentence_id) == (1, data["left"]["hits"][0]["sentence_id"])
    assert hit.additional_properties == {}


@pytest.mark.slow
def test_a_generated_status_has_typed_fields(generated: ModuleType, app: Flask) -> None:
    models = importlib.import_module("esr_client.models")
    status = models.Status.from_dict(app.test_client().get(f"{BASE}/status").get_json())
    assert (status.documents, status.sentences, status.title) == (32, 65, True)


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
GOOD_EXAMPLES = 15
"""How many of them are made to be answered: of the rest, any number may be, from one day to the next."""
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

    def send(case: schemathesis.Case) -> None:
        statuses[case.call_and_validate(checks=checks_of(case)).status_code] += 1

    @_examples(EXAMPLES - GOOD_EXAMPLES)
    @given(st.data())
    def check_any(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from(list(modes)))
        case = data.draw(modes[mode])
        # Most generated texts are no words, and most settings do not fit each other.
        if mode is GenerationMode.POSITIVE and data.draw(st.integers(0, 3)):
            _make_likely(case, name, data)
        send(case)

    @_examples(GOOD_EXAMPLES)
    @given(st.data())
    def check_good(data: st.DataObject) -> None:
        case = data.draw(modes[GenerationMode.POSITIVE])
        _make_likely(case, name, data)
        send(case)

    check_any()
    check_good()
    return statuses


def _make_likely(case: schemathesis.Case, name: str, data: st.DataObject) -> None:
    """Leave one generated argument at most, beside those that make an answer likely."""
    if case.query:
        kept = data.draw(st.lists(st.sampled_from(sorted(case.query)), max_size=1))
        case.query = {n: v for n, v in case.query.items() if n in kept} | GOOD[name]
    if isinstance(case.body, dict) and case.body:
        kept = data.draw(st.lists(st.sampled_from(sorted(case.body)), max_size=1))
        case.body = {n: v for n, v in case.body.items() if n in kept} | GOOD_BODY


def _examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
