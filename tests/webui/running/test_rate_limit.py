from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from esr.errors import UsageError
from esr.ranking.searcher import Searcher
from tests.webui.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.rate_limit import check, client
from webui.running.settings import Settings


def limited(rate: str, proxies: int = 0) -> FlaskClient:
    return create_app(Searcher(FakeIndex(STORM)), Settings(rate=rate, proxies=proxies)).test_client()


def statuses(asked: FlaskClient, count: int, address: str = "/api/v1/models", **kwargs: object) -> list[int]:
    return [asked.get(address, **kwargs).status_code for _ in range(count)]  # type: ignore[arg-type]


def forwarded(addresses: str) -> dict[str, dict[str, str]]:
    return {"headers": {"X-Forwarded-For": addresses}}


def test_a_client_that_asks_too_often_is_told_when_to_ask_again() -> None:
    asked = limited("3/minute")
    assert statuses(asked, 4) == [200, 200, 200, 429]
    answer = asked.get("/api/v1/models")
    assert answer.json == {
        "error": {
            "code": "too_many_requests",
            "message": "Wait a little, then try again.",
            "field": None,
        }
    }
    assert 1 <= int(answer.headers["Retry-After"]) <= 61
    page = asked.get("/search?q=storm")
    assert (page.status_code, page.mimetype) == (429, "text/html")


def test_without_a_rate_there_is_no_limit() -> None:
    assert set(statuses(limited(""), 50)) == {200}


def test_another_client_is_counted_for_itself() -> None:
    asked = limited("2/minute")
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8:1::1"):
        found = statuses(asked, 3, environ_overrides={"REMOTE_ADDR": address})
        assert found == [200, 200, 429]


def test_an_address_that_a_client_gives_itself_changes_nothing() -> None:
    asked = limited("2/minute")
    found = [statuses(asked, 1, **forwarded(f"198.51.100.{n}"))[0] for n in range(3)]
    assert found == [200, 200, 429]


def test_behind_a_proxy_the_client_is_who_the_proxy_saw() -> None:
    asked = limited("2/minute", proxies=1)
    assert statuses(asked, 3, **forwarded("192.0.2.1")) == [200, 200, 429]
    assert statuses(asked, 3, **forwarded("192.0.2.2")) == [200, 200, 429]


def test_behind_a_proxy_what_the_client_wrote_before_counts_for_nothing() -> None:
    asked = limited("2/minute", proxies=1)
    found = [statuses(asked, 1, **forwarded(f"198.51.100.{n}, 192.0.2.1"))[0] for n in range(3)]
    assert found == [200, 200, 429]


def test_behind_two_proxies_the_client_is_the_last_but_one() -> None:
    asked = limited("2/minute", proxies=2)
    found = [statuses(asked, 1, **forwarded(f"6.6.6.{n}, 192.0.2.1, 10.0.0.{n}"))[0] for n in range(3)]
    assert found == [200, 200, 429]


def test_what_operators_ask_is_not_counted() -> None:
    asked = limited("1/minute")
    for address in ("/healthz", "/metrics", "/static/esr.css"):
        for _ in range(3):
            with asked.get(address) as answer:
                assert answer.status_code == 200


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:9::9", "2001:db8:1:2::/64"),
        ("unix:", "unknown"),
        (None, "unknown"),
        ("<script>", "unknown"),
    ],
)
def test_a_client_is_counted_by_its_address_or_its_network(address: str | None, counted: str) -> None:
    assert client(address) == counted


@pytest.mark.parametrize("rate", ["many", "60", "60/fortnight", "-1/minute"])
def test_a_rate_that_cannot_be_read_is_one_message(rate: str) -> None:
    with pytest.raises(UsageError, match="ESR_RATE is a rate such as 60/minute"):
        check(rate)
