"""What collections need, from the measured figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from esr.capacity.measurements import QUANTITIES, read_elasticsearch, read_points
from esr.capacity.plan import Plan, elasticsearch_growth, growth, plan_elasticsearch, plan_folder


def test_every_point_has_every_quantity() -> None:
    for point in read_points():
        assert {*QUANTITIES} <= {*point.values}


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_smaller_sizes_predict_the_largest_within_a_quarter(quantity: str) -> None:
    *smaller, largest = read_points()
    predicted = growth(quantity, tuple(smaller)).at(largest.sentences)
    assert predicted / largest.values[quantity] == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize("quantity", ["bytes", "search_p50"])
def test_smaller_sizes_predict_ten_million_sentences_on_elasticsearch(quantity: str) -> None:
    *smaller, largest = read_elasticsearch().points
    assert largest.sentences > 10**7
    predicted = elasticsearch_growth(quantity, tuple(smaller)).at(largest.sentences)
    assert predicted / largest.values[quantity] == pytest.approx(1, abs=0.25)


def test_a_plan_tells_what_is_measured_from_what_is_extrapolated() -> None:
    largest = read_points()[-1].sentences
    assert all(need.is_measured for need in plan_folder(largest, 1).needs)
    assert not any(need.is_measured for need in plan_folder(largest + 1, 1).needs)
    assert not any(need.is_measured for need in plan_elasticsearch(1e9, 1).needs)


@pytest.mark.parametrize("plan", [plan_folder, plan_elasticsearch])
def test_more_sentences_and_more_queries_need_no_less(plan: object) -> None:
    assert callable(plan)
    for small, large in ((plan(1e7, 1), plan(1e9, 1)), (plan(1e8, 1), plan(1e8, 200))):
        for one, other in zip(small.needs, large.needs, strict=True):
            # A shard is as large as is good for it, and more of them are searched at once.
            assert one.value <= other.value or one.name in ("size of a shard", "search, median")


def test_loaders_and_shards_divide_the_work() -> None:
    one, four = plan_elasticsearch(1e9, 1), plan_elasticsearch(1e9, 1, loaders=4)
    reading = 1e9 / read_elasticsearch().read_per_second
    assert four.value("load") - reading == pytest.approx((one.value("load") - reading) / 4)
    assert plan_elasticsearch(1e9, 1, loaders=1000).value("load") > reading, "each reads all documents"
    assert len(four.settings) == len(one.settings) + 3
    assert one.value("size of a shard") <= 30e9
    assert one.value("shards") * one.value("size of a shard") == pytest.approx(
        one.value("one generation, one copy")
    )


def test_a_server_of_many_sentences_may_keep_more_than_by_default() -> None:
    assert "ESR_CACHE_BYTES=512000000 " in plan_folder(1e6, 1).settings[0]
    assert "ESR_CACHE_BYTES=4000000000 " in plan_folder(1e8, 1).settings[0]
    assert plan_folder(1e8, 1).value("memory of a server process") > 4e9


@pytest.mark.parametrize("plan", [plan_folder, plan_elasticsearch])
def test_a_small_collection_needs_something_of_everything(plan: Callable[[float, float], Plan]) -> None:
    needs = plan(1e4, 1.0).needs
    assert all(need.value > 0 for need in needs)
    assert not any(need.is_measured for need in needs)
