from __future__ import annotations

from esr.wording import count


def test_a_number_has_its_noun() -> None:
    assert [count(n, "run") for n in (0, 1, 22645)] == ["0 runs", "1 run", "22,645 runs"]
