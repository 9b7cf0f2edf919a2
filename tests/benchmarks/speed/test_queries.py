from __future__ import annotations

from pathlib import Path

from benchmarks.speed import queries
from benchmarks.speed.setup import Setup
from tests.support import toy_collection as toy


def test_queries_have_two_to_six_terms_and_are_distinct(tmp_path: Path) -> None:
    file = tmp_path / "queries.tsv"
    file.write_text("1\tbako\n2\tbako dako\n3\tbako dako\n4\tthe and of\n5\ta b c d e f g h i j k\n", "utf-8")
    assert queries.all_queries(Setup(tmp_path, file, tmp_path)) == ["bako dako"]


def test_the_sample_is_the_same_every_time(tmp_path: Path) -> None:
    setup = Setup(*toy.write(tmp_path), tmp_path, number=7)
    assert queries.sample(setup) == queries.sample(setup) == queries.all_queries(setup)[:7]
    assert len(queries.all_queries(setup)) == 60


def test_no_two_queries_of_a_group_share_a_term() -> None:
    groups = queries.group_disjoint(["bako dako", "dako fako", "gako kako", "kako bako"])
    assert groups == [["bako dako", "gako kako"], ["dako fako", "kako bako"]]


def test_an_unrelated_query_shares_no_term_with_the_group() -> None:
    assert queries.find_unrelated(["bako dako", "gako"], ["gako memi", "memi"]) == "memi"
    assert queries.find_unrelated(["bako"], ["bako memi"]) is None
