"""Planning of capacity: growth through measured points, needs of collections, and docs/capacity.md."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.capacity import PAGES, TABLES, fill
from esr.lab.commands.capacity import (
    QUANTITIES,
    CapacityEstimate,
    elasticsearch_growth,
    estimate_elasticsearch,
    estimate_folder,
    fit,
    format_value,
    growth,
    read_elasticsearch,
    read_points,
)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 1.3])
def test_points_of_a_power_law_give_it_back(exponent: float) -> None:
    sizes = [500_000, 2_000_000, 10_000_000]
    law = fit("power", sizes, [3.0 * size**exponent for size in sizes])
    assert law.exponent == pytest.approx(exponent)
    assert law.at(1e9) == pytest.approx(3.0 * 1e9**exponent)


@pytest.mark.parametrize("fixed", [0.0, 7.0])
def test_points_of_a_line_give_it_back(fixed: float) -> None:
    sizes = [500_000, 2_000_000, 10_000_000]
    law = fit("linear", sizes, [fixed + 2e-6 * size for size in sizes])
    assert law.fixed == pytest.approx(fixed, abs=1e-9)
    assert law.at(1e9) == pytest.approx(fixed + 2000.0)


def test_what_lies_beyond_the_points_is_extrapolated() -> None:
    law = fit("power", [10, 100], [1.0, 2.0])
    assert [law.is_measured(size) for size in (9, 10, 100, 101)] == [False, True, True, False]


def test_a_line_that_falls_below_0_goes_to_0_from_the_smallest_point() -> None:
    law = fit("linear", [1000, 2000], [100.0, 300.0])
    assert law.fixed == pytest.approx(-100.0)
    assert [law.at(size) for size in (10, 500, 1000)] == pytest.approx([1.0, 50.0, 100.0])


def test_one_point_gives_no_growth() -> None:
    with pytest.raises(ValueError, match="two points"):
        fit("linear", [10], [1.0])


def test_the_pages_are_those_of_the_measurements() -> None:
    pages = [page.read_text("utf-8") for page in PAGES]
    assert sum(page.count("python -m benchmarks.capacity -->") for page in pages) == len(TABLES)
    assert pages == list(map(fill, pages)), "run: python -m benchmarks.capacity"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00035, "s", "0.35 ms"),
        (12.0, "s", "12 s"),
        (5400.0, "s", "1.5 h"),
        (2.3e9, "B", "2.3 GB"),
        (1.2e13, "B", "12 TB"),
        (34.0, "", "34"),
    ],
)
def test_values_have_two_or_three_digits(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


def test_every_point_has_every_quantity() -> None:
    for point in read_points():
        assert {*QUANTITIES} <= {*point.values}


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_smaller_sizes_predict_the_largest_within_a_third_or_so(quantity: str) -> None:
    *smaller, largest = read_points()
    predicted = growth(quantity, tuple(smaller)).at(largest.sentences)
    assert predicted / largest.values[quantity] == pytest.approx(1, abs=0.35)


@pytest.mark.parametrize("quantity", ["bytes", "search_p50"])
def test_smaller_sizes_predict_ten_million_sentences_on_elasticsearch(quantity: str) -> None:
    *smaller, largest = read_elasticsearch().points
    assert largest.sentences > 10**7
    predicted = elasticsearch_growth(quantity, tuple(smaller)).at(largest.sentences)
    assert predicted / largest.values[quantity] == pytest.approx(1, abs=0.25)


def test_a_plan_tells_what_is_measured_from_what_is_extrapolated() -> None:
    largest = read_points()[-1].sentences
    assert all(need.is_measured for need in estimate_folder(largest, 1).needs)
    assert not any(need.is_measured for need in estimate_folder(largest + 1, 1).needs)
    assert not any(need.is_measured for need in estimate_elasticsearch(1e9, 1).needs)


@pytest.mark.parametrize("estimate", [estimate_folder, estimate_elasticsearch])
def test_more_sentences_and_more_queries_need_no_less(estimate: object) -> None:
    assert callable(estimate)
    for small, large in ((estimate(1e7, 1), estimate(1e9, 1)), (estimate(1e8, 1), estimate(1e8, 200))):
        for one, other in zip(small.needs, large.needs, strict=True):
            # A shard is as large as is good for it, and more of them are searched at once.
            assert one.value <= other.value or one.name in ("size of a shard", "search, median")


def test_loaders_and_shards_divide_the_work() -> None:
    one, four = estimate_elasticsearch(1e9, 1), estimate_elasticsearch(1e9, 1, loaders=4)
    reading = 1e9 / read_elasticsearch().read_per_second
    assert four.value("load") - reading == pytest.approx((one.value("load") - reading) / 4)
    assert estimate_elasticsearch(1e9, 1, loaders=1000).value("load") > reading, "each reads all documents"
    assert len(four.settings) == len(one.settings) + 3
    assert one.value("size of a shard") <= 30e9
    assert one.value("shards") * one.value("size of a shard") == pytest.approx(
        one.value("one generation, one copy")
    )


def test_a_server_of_many_sentences_may_keep_more_than_by_default() -> None:
    assert "ESR_CACHE_BYTES=512000000 " in estimate_folder(1e6, 1).settings[0]
    assert "ESR_CACHE_BYTES=6000000000 " in estimate_folder(1e8, 1).settings[0]
    assert estimate_folder(1e8, 1).value("memory of a server process") > 6e9


@pytest.mark.parametrize("estimate", [estimate_folder, estimate_elasticsearch])
def test_a_small_collection_needs_something_of_everything(
    estimate: Callable[[float, float], CapacityEstimate],
) -> None:
    needs = estimate(1e4, 1.0).needs
    assert all(need.value > 0 for need in needs)
    assert not any(need.is_measured for need in needs)
