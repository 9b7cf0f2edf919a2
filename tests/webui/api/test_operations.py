from __future__ import annotations

import math

import pytest
from flask.testing import FlaskClient

from esr import models
from esr.dependency.signals import SIGNALS
from esr.features import FEATURES
from esr.models import priors
from esr.models.forms import FORMS
from esr.plans.plan import CANDIDATES
from esr.ranking import boosts
from esr.text.analyzer import get_analyzer
from tests.support.api_requests import error, get, ids


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
