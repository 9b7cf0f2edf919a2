"""A module that is missing skips a test at a desk, and fails it in CI."""

from __future__ import annotations

import pytest

from tests.support.needed import need


def test_a_module_that_is_there_is_imported() -> None:
    assert need("json.decoder").__name__ == "json.decoder"


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)], ids=["CI", "a desk"]
)
def test_what_is_missing_is_skipped_at_a_desk_but_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="needs no_such_module: pip install"):
        need("no_such_module")
