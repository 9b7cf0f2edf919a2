"""Which requests wait for a slot, and which are refused: by the gate, the breaker and the rate limit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.access.rates import parse_rate
from esr.errors import EngineUnreachable, UsageError
from esr.index import view
from esr.index.filters import NO_FILTERS
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from tests.support.processes import wait_until
from webui.app import create_app
from webui.running.gate import (
    FAILURES,
    PAUSE,
    Busy,
    CircuitBreaker,
    FairSemaphore,
    Gate,
    Room,
    start_beside,
)
from webui.running.rate_limit import COMPLETIONS_PER_REQUEST, RateState, SlidingWindow, client_key
from webui.running.served_indexes import monitor
from webui.running.settings import Settings

GONE = EngineUnreachable("it is gone")


def make_gate(slots: int, inside: int) -> Gate:
    """A gate. For its breaker, time stands still."""
    gate = Gate(slots, Room(inside), CircuitBreaker(10.0))
    gate.breaker = CircuitBreaker(10.0, clock=lambda: 0.0)
    return gate


def record_waits(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which requests wait for a slot: from now on, none gets one."""
    waits: list[float] = []
    monkeypatch.setattr(gate.slots, "acquire", waits.append)
    return waits


Submit = Callable[[Gate, Callable[[], object]], "Future[object]"]


@pytest.fixture
def submit() -> Iterator[Submit]:
    """Starts a thread that enters a gate, and returns when it waits there."""
    with ThreadPoolExecutor(20) as pool:

        def start(gate: Gate, enter: Callable[[], object]) -> Future[object]:
            before = len(gate.slots.waiting)
            future = pool.submit(enter)
            wait_until(lambda: len(gate.slots.waiting) > before)
            return future

        yield start


def test_a_request_waits_for_a_slot_and_gives_up_in_time(submit: Submit) -> None:
    gate = make_gate(1, 9)
    gate.enter(1.0)
    with pytest.raises(Busy, match="no slot"):
        gate.enter(0.1)
    entering = submit(gate, lambda: gate.enter(60.0))
    gate.leave()
    entering.result(60)


def test_part_of_the_time_is_left_for_asking_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(1, 9)
    waits = record_waits(gate, monkeypatch)
    with pytest.raises(Busy):
        gate.enter(1.0)
    assert waits == [pytest.approx(0.8)]


def test_a_request_that_waited_for_a_thread_waits_less_for_a_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(1, 9)
    waits = record_waits(gate, monkeypatch)
    for waited in (0.3, 0.9):
        with pytest.raises(Busy):
            gate.enter(1.0, waited)
    assert waits == [pytest.approx(0.5), 0.0]


def test_requests_enter_in_the_order_in_which_they_came(submit: Submit) -> None:
    gate = make_gate(1, 99)
    gate.enter(1.0)
    order: list[int] = []

    def enter(number: int) -> None:
        gate.enter(60.0)
        order.append(number)
        gate.leave()

    entering = [submit(gate, lambda number=number: enter(number)) for number in range(10)]
    gate.leave()
    for future in entering:
        future.result(60)
    assert order == [*range(10)]
    gate.enter(0.1)


def test_a_newcomer_does_not_overtake_a_request_that_waits(submit: Submit) -> None:
    gate = make_gate(1, 9)
    gate.enter(1.0)
    entering = submit(gate, lambda: gate.enter(60.0))
    gate.leave()
    with pytest.raises(Busy, match="no slot"):
        gate.enter(0.0)
    entering.result(60)


def test_the_number_of_waiting_requests_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(1, 1)
    gate.enter(1.0)
    with monkeypatch.context() as patch:
        waits = record_waits(gate, patch)
        with pytest.raises(Busy, match="as many requests are waiting"):
            gate.enter(5.0)
        assert waits == []
    gate.leave()
    gate.enter(0.1)


def test_a_rejected_request_takes_no_slot() -> None:
    gate = make_gate(1, 2)
    gate.enter(0.1)
    for _ in range(5):
        with pytest.raises(Busy, match="no slot"):
            gate.enter(0.01)
    gate.leave()
    for _ in range(FAILURES):
        gate.breaker.record_failure(GONE)
    for _ in range(5):
        with pytest.raises(EngineUnreachable):
            gate.enter(0.01)
    gate.breaker.record_success()
    gate.enter(0.1)


def test_a_request_that_waited_while_the_engine_failed_fails_at_once(submit: Submit) -> None:
    gate = make_gate(1, 9)
    gate.enter(0.1)
    entering = submit(gate, lambda: gate.enter(60.0))
    for _ in range(FAILURES):
        gate.breaker.record_failure(GONE)
    gate.leave()
    with pytest.raises(EngineUnreachable):
        entering.result(60)
    gate.breaker.record_success()
    gate.enter(0.1)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broken(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(10.0, clock)
    for _ in range(FAILURES):
        breaker.raise_if_open()
        breaker.record_failure(GONE)
    return breaker


def test_several_failures_in_a_row_open_the_breaker(broken: CircuitBreaker, clock: Clock) -> None:
    with pytest.raises(EngineUnreachable, match="it is gone"):
        broken.raise_if_open()
    clock.now = PAUSE
    broken.raise_if_open()


def test_after_a_pause_one_request_tries_and_the_others_fail(broken: CircuitBreaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.begin()
    with pytest.raises(EngineUnreachable):
        broken.begin()
    clock.now += 10.0  # the request that tried never came back
    broken.begin()


def test_a_request_that_never_asked_leaves_the_try_to_the_next(broken: CircuitBreaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.begin()
    broken.end()
    broken.begin()
    broken.record_failure(GONE)
    broken.end()
    with pytest.raises(EngineUnreachable):
        broken.begin()


@pytest.mark.parametrize("ending", ["end", "record_failure"])
def test_what_an_older_request_does_admits_no_second_try(clock: Clock, ending: str) -> None:
    breaker = CircuitBreaker(10.0, clock)
    with ThreadPoolExecutor(1) as older:
        older.submit(breaker.begin).result()
        for _ in range(FAILURES):
            breaker.record_failure(GONE)
        clock.now = PAUSE
        breaker.begin()
        older.submit(getattr(breaker, ending), *[GONE][: ending == "record_failure"]).result()
    clock.now += PAUSE
    with pytest.raises(EngineUnreachable):
        breaker.begin()
    breaker.record_failure(GONE)
    clock.now += PAUSE
    breaker.begin()


def test_an_answer_closes_the_breaker(broken: CircuitBreaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.begin()
    broken.record_success()
    broken.begin()
    broken.begin()


def test_failures_with_answers_between_them_do_not_open_the_breaker(clock: Clock) -> None:
    breaker = CircuitBreaker(10.0, clock)
    for _ in range(3 * FAILURES):
        breaker.record_failure(GONE)
        breaker.record_success()
        breaker.raise_if_open()


class ElsewhereIndex(FakeIndex):
    """An index that seems to be in an engine elsewhere. Its counts wait until they are let go, or fail."""

    def __init__(self, where: str, fails: bool = False) -> None:
        super().__init__()
        self.where, self.fails = where, fails
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def count(self, *args: Any) -> Any:
        self.asked.set()
        if self.fails:
            raise EngineUnreachable("it hangs")
        assert self.may_answer.wait(60)
        return [threading.get_ident()]


def test_what_is_asked_beside_a_search_is_answered_meanwhile() -> None:
    index = ElsewhereIndex("http://localhost:9200/news")
    finish = start_beside(index, lambda: index.count())  # type: ignore[arg-type]
    assert index.asked.wait(60)
    index.may_answer.set()
    assert finish() != [threading.get_ident()]


def test_a_folder_is_asked_when_the_answer_is_wanted() -> None:
    index = ElsewhereIndex("news")
    index.may_answer.set()
    finish = start_beside(index, lambda: index.count())  # type: ignore[arg-type]
    assert not index.asked.wait(0.1)
    assert finish() == [threading.get_ident()]


def test_with_all_threads_taken_the_request_asks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    index = ElsewhereIndex("http://localhost:9200/news")
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(view, "threads_beside", lambda: threads)
        first = start_beside(index, lambda: index.count())  # type: ignore[arg-type]
        assert index.asked.wait(60)
        finish = start_beside(index, threading.get_ident)  # type: ignore[arg-type]
        assert finish() == threading.get_ident()
        index.may_answer.set()
        assert first() != [threading.get_ident()]


@pytest.mark.parametrize("where", ["http://localhost:9200/news", "news"])
@pytest.mark.parametrize("fails", [True, False])
def test_the_breaker_goes_by_the_search_and_not_by_what_is_beside_it(
    broken: CircuitBreaker, clock: Clock, fails: bool, where: str
) -> None:
    breaker = CircuitBreaker(5.0, clock) if fails else broken
    index = ElsewhereIndex(where, fails)
    index.may_answer.set()
    monitored = monitor(index, breaker)  # type: ignore[arg-type]
    for _ in range(FAILURES):
        finish = start_beside(monitored, lambda: monitored.count([], NO_FILTERS))
        with pytest.raises(EngineUnreachable) if fails else nullcontext():
            finish()
    with nullcontext() if fails else pytest.raises(EngineUnreachable):
        breaker.raise_if_open()


def test_a_slot_that_becomes_free_at_the_last_moment_is_not_lost() -> None:
    semaphore = FairSemaphore(1)
    assert semaphore.acquire(0)

    def hold(n: int) -> bool:
        acquired = semaphore.acquire(0.001 * (n % 3))
        if acquired:
            semaphore.release()
        return acquired

    with ThreadPoolExecutor(8) as pool:
        waiting = pool.map(hold, range(2_000))
        semaphore.release()
        list(waiting)
    assert semaphore.acquire(0) and not semaphore.acquire(0)


def limited(rate: str, proxies: int = 0, rates: str = ":memory:") -> FlaskClient:
    return create_app(Searcher(FakeIndex(STORM)), Settings(rate=rate, proxies=proxies), rates).test_client()


def statuses(client: FlaskClient, count: int, address: str = "/api/v1/models", **kwargs: object) -> list[int]:
    return [client.get(address, **kwargs).status_code for _ in range(count)]  # type: ignore[arg-type]


def forwarded(addresses: str) -> dict[str, dict[str, str]]:
    return {"headers": {"X-Forwarded-For": addresses}}


def test_a_client_over_its_limit_is_told_when_to_retry() -> None:
    client = limited("3/minute")
    assert statuses(client, 4) == [200, 200, 200, 429]
    answer = client.get("/api/v1/models")
    assert answer.json == {
        "error": {
            "code": "too_many_requests",
            "message": "Too many requests: wait a moment, then retry.",
            "field": None,
        }
    }
    assert 1 <= int(answer.headers["Retry-After"]) <= 61
    page = client.get("/search?q=storm")
    assert (page.status_code, page.mimetype) == (429, "text/html")


def test_each_answer_says_how_many_requests_remain() -> None:
    client = limited("3/minute")
    remaining = []
    for _ in range(4):
        headers = client.get("/api/v1/models").headers
        assert headers["RateLimit-Limit"] == "3"
        assert 1 <= int(headers["RateLimit-Reset"]) <= 60
        remaining.append(headers["RateLimit-Remaining"])
    assert remaining == ["2", "1", "0", "0"]
    assert client.get("/api/v1/complete?q=st").headers["RateLimit-Limit"] == str(3 * COMPLETIONS_PER_REQUEST)
    for answer in (client.get("/healthz"), limited("").get("/api/v1/models")):
        assert "RateLimit-Limit" not in answer.headers


def test_without_a_rate_there_is_no_limit() -> None:
    assert set(statuses(limited(""), 50)) == {200}


def test_each_client_is_counted_separately() -> None:
    client = limited("2/minute")
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8:1::1"):
        codes = statuses(client, 3, environ_overrides={"REMOTE_ADDR": address})
        assert codes == [200, 200, 429]


def test_an_address_that_the_client_claims_is_ignored() -> None:
    client = limited("2/minute")
    codes = [statuses(client, 1, **forwarded(f"198.51.100.{n}"))[0] for n in range(3)]
    assert codes == [200, 200, 429]


def test_behind_a_proxy_the_client_is_the_one_that_the_proxy_saw() -> None:
    client = limited("2/minute", proxies=1)
    assert statuses(client, 3, **forwarded("192.0.2.1")) == [200, 200, 429]
    assert statuses(client, 3, **forwarded("192.0.2.2")) == [200, 200, 429]


def test_behind_a_proxy_addresses_that_the_client_claims_are_ignored() -> None:
    client = limited("2/minute", proxies=1)
    codes = [statuses(client, 1, **forwarded(f"198.51.100.{n}, 192.0.2.1"))[0] for n in range(3)]
    assert codes == [200, 200, 429]


def test_behind_two_proxies_the_client_is_the_last_but_one() -> None:
    client = limited("2/minute", proxies=2)
    codes = [statuses(client, 1, **forwarded(f"6.6.6.{n}, 192.0.2.1, 10.0.0.{n}"))[0] for n in range(3)]
    assert codes == [200, 200, 429]


def test_health_checks_metrics_and_static_files_are_not_counted() -> None:
    client = limited("1/minute")
    for address in ("/healthz", "/metrics", "/static/esr.css"):
        for _ in range(3):
            with client.get(address) as answer:
                assert answer.status_code == 200


@pytest.mark.parametrize("is_shared", [False, True])
def test_completions_are_counted_apart_from_searches_and_allow_more(is_shared: bool, tmp_path: Path) -> None:
    rates = str(tmp_path / "rates.sqlite") if is_shared else ":memory:"  # workers count in one file
    client = limited("2/minute", rates=rates)
    allowed = 2 * COMPLETIONS_PER_REQUEST
    codes = statuses(client, allowed + 1, "/api/v1/complete?q=st")
    assert codes == [200] * allowed + [429]
    assert statuses(client, 3) == [200, 200, 429]


@pytest.mark.parametrize(
    ("address", "key"),
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
def test_a_client_is_counted_by_its_address_or_its_network(address: str | None, key: str) -> None:
    assert client_key(address) == key


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("60/minute", (60, 60)),
        ("5/second", (5, 1)),
        ("10 per hour", (10, 3_600)),
        ("100/2 hours", (100, 7_200)),
        (" 1/Day ", (1, 86_400)),
    ],
)
def test_a_rate_is_a_number_of_requests_in_a_time(text: str, rate: tuple[int, int]) -> None:
    assert parse_rate(text) == rate
    assert parse_rate("") is None


@pytest.mark.parametrize("rate", ["many", "60", "60/fortnight", "-1/minute", "1.5/minute"])
def test_an_unreadable_rate_is_one_message(rate: str) -> None:
    with pytest.raises(UsageError, match="give a rate such as 60/minute"):
        parse_rate(rate)


class ManualClock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_hit_over_the_limit_says_when_enough_will_have_left_the_window() -> None:
    clock = ManualClock()
    window = SlidingWindow(":memory:", 3, 60, clock)
    assert window.hit("a", 2).retry == 0
    clock.now += 10
    assert window.hit("a").retry == 0
    assert window.hit("a").retry == 50  # until the first two are gone
    assert window.hit("a", 3).retry == 60  # until all are
    assert window.hit("b", 3).retry == 0
    clock.now += 50
    assert window.hit("a", 2).retry == 0
    assert window.hit("a").retry == 10


def test_a_client_stands_where_its_counted_requests_put_it() -> None:
    clock = ManualClock()
    window = SlidingWindow(":memory:", 3, 60, clock)
    assert window.hit("a") == (0, 3, 2, 60)
    clock.now += 10
    assert window.hit("a") == (0, 3, 1, 50)  # the first counts no more then
    assert window.hit("a", 2) == (50, 3, 1, 50)


def test_a_cost_above_the_limit_is_never_allowed() -> None:
    assert SlidingWindow(":memory:", 3, 60, ManualClock()).hit("a", 4).retry == 60


def test_hits_outside_the_window_are_deleted(tmp_path: Path) -> None:
    clock = ManualClock()
    window = SlidingWindow(str(tmp_path / "w"), 1, 60, clock)
    for n in range(50):
        window.hit(str(n))
    clock.now += 60
    window.hit("a")
    with sqlite3.connect(tmp_path / "w") as other:
        assert other.execute("SELECT count(*) FROM hits").fetchone() == (1,)


def count_allowed(path: str, barrier: Barrier) -> int:
    """How many hits of a thread pool are allowed in a process of its own."""
    window = SlidingWindow(path, 800, 60)
    barrier.wait(60)
    with ThreadPoolExecutor(4) as pool:
        return sum(standing.retry == 0 for standing in pool.map(lambda _: window.hit("a"), range(800)))


@pytest.mark.slow
def test_processes_and_threads_count_together(tmp_path: Path) -> None:
    spawning = get_context("spawn")
    with spawning.Manager() as manager, ProcessPoolExecutor(2, spawning) as pool:
        barrier = manager.Barrier(2)
        jobs = [pool.submit(count_allowed, str(tmp_path / "w"), barrier) for _ in range(2)]
        assert sum(job.result() for job in jobs) == 800


def test_requests_are_answered_where_they_cannot_be_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = create_app(Searcher(FakeIndex(STORM)), Settings(rate="1/minute", access_log=0)).test_client()
    assert client.get("/api/v1/models").status_code == 200
    assert client.get("/api/v1/models").status_code == 429

    def broken(*args: object) -> RateState:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(SlidingWindow, "hit", broken)
    assert client.get("/api/v1/models").status_code == 200
