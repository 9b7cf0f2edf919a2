from __future__ import annotations

from flask.testing import FlaskClient

from esr.ranking.searcher import Searcher
from tests.webui.fake_index import FakeIndex
from webui.app import create_app
from webui.arguments.links import Here, address

GIVEN = [
    ("q", "storm"),
    ("source", "a"),
    ("source", "b"),
    ("k", "10"),
    ("params.mu", "5"),
    ("vs.model", "jm"),
]


def test_an_address_can_be_changed_in_parts() -> None:
    given = GIVEN[:4]
    assert address(given, k="20") == [*given[:3], ("k", "20")]
    assert address(given, source=None) == [("q", "storm"), ("k", "10")]


def test_addresses_with_nearly_the_same_state(client: FlaskClient) -> None:
    here = Here(GIVEN[:5])
    with client.application.test_request_context():
        assert here.adding("source", "c & d").endswith("&source=c+%26+d")
        assert here.without("source", "a") == "/search?q=storm&source=b&k=10&params.mu=5"
        assert here.ranked({"model": "bm25"}) == "/search?q=storm&source=a&source=b&k=10&model=bm25"
        assert Here([])("home") == "/"


def test_each_side_of_a_comparison_has_its_own_search(client: FlaskClient) -> None:
    here = Here([("q", "storm"), *GIVEN[4:]])
    with client.application.test_request_context():
        assert here.one_side("results", False) == "/search?q=storm&params.mu=5"
        assert here.one_side("results", True) == "/search?q=storm&model=jm"
        assert here.one_side("document", True, "d/1") == "/document?q=storm&model=jm&id=d%2F1"


def test_a_value_is_added_beside_others_or_in_their_place_and_taken_away() -> None:
    app = create_app(Searcher(FakeIndex()))
    with app.test_request_context():
        here = Here([("q", "a"), ("source", "x"), ("from", "2016"), ("to", "2018")])
        assert here.toggled({"source": "y"}, False) == "/search?q=a&source=x&from=2016&to=2018&source=y"
        assert here.toggled({"source": "x"}, True) == "/search?q=a&from=2016&to=2018"
        month = {"from": "2017-02", "to": "2017-02"}
        assert here.toggled(month, False) == "/search?q=a&source=x&from=2017-02&to=2017-02"
