from __future__ import annotations

from flask.testing import FlaskClient

from esr.ranking.searcher import Searcher
from tests.support.fake_index import FakeIndex
from webui.app import create_app
from webui.arguments.links import Links, change_arguments

ARGUMENTS = [
    ("q", "storm"),
    ("source", "a"),
    ("source", "b"),
    ("k", "10"),
    ("params.mu", "5"),
    ("vs.model", "jm"),
]


def test_some_arguments_can_be_changed() -> None:
    arguments = ARGUMENTS[:4]
    assert change_arguments(arguments, k="20") == [*arguments[:3], ("k", "20")]
    assert change_arguments(arguments, source=None) == [("q", "storm"), ("k", "10")]


def test_links_change_one_part_of_the_state(client: FlaskClient) -> None:
    links = Links(ARGUMENTS[:5])
    with client.application.test_request_context():
        assert links.with_value("source", "c & d").endswith("&source=c+%26+d")
        assert links.without_value("source", "a") == "/search?q=storm&source=b&k=10&params.mu=5"
        assert links.with_ranking({"model": "bm25"}) == "/search?q=storm&source=a&source=b&k=10&model=bm25"
        assert Links([]).to("home") == "/"


def test_each_side_of_a_comparison_links_to_its_own_search(client: FlaskClient) -> None:
    links = Links([("q", "storm"), *ARGUMENTS[4:]])
    with client.application.test_request_context():
        assert links.to_side("results", False) == "/search?q=storm&params.mu=5"
        assert links.to_side("results", True) == "/search?q=storm&model=jm"
        assert links.to_side("document", True, "d/1") == "/document?q=storm&model=jm&id=d%2F1"


def test_a_value_is_toggled_beside_others_or_in_their_place() -> None:
    app = create_app(Searcher(FakeIndex()))
    with app.test_request_context():
        links = Links([("q", "a"), ("source", "x"), ("from", "2016"), ("to", "2018")])
        assert links.toggle({"source": "y"}, False) == "/search?q=a&source=x&from=2016&to=2018&source=y"
        assert links.toggle({"source": "x"}, True) == "/search?q=a&from=2016&to=2018"
        month = {"from": "2017-02", "to": "2017-02"}
        assert links.toggle(month, False) == "/search?q=a&source=x&from=2017-02&to=2017-02"
