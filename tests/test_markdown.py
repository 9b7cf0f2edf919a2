from __future__ import annotations

from esr.markdown import format_table, table_lines


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert format_table(["a", "b"], [["x|y", "z"]]) == "| a | b |\n| --- | --- |\n| x\\|y | z |\n"


def test_figures_stand_to_the_right() -> None:
    assert list(table_lines(["run", "AP"], [], left=1)) == ["| run | AP |", "| --- | ---: |"]
