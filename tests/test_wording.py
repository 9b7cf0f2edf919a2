from __future__ import annotations

from esr.wording import count, format_table, table_lines


def test_a_number_has_its_noun() -> None:
    assert [count(n, "run") for n in (0, 1, 22645)] == ["0 runs", "1 run", "22,645 runs"]


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert format_table(["a", "b"], [["x|y", "z"]]) == "| a | b |\n| --- | --- |\n| x\\|y | z |\n"


def test_figures_stand_to_the_right() -> None:
    assert list(table_lines(["run", "AP"], [], left=1)) == ["| run | AP |", "| --- | ---: |"]
