from __future__ import annotations

from pathlib import Path

import pytest

from webui.api.operation import ERRORS
from webui.api.operations import OPERATIONS
from webui.api.reference import LIMITS, text
from webui.running.settings import Settings

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"


def test_the_page_is_what_its_generator_prints() -> None:
    assert PAGE.read_text("utf-8") == text(), "run: python -m webui.api.reference > docs/api.md"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_the_page_describes_every_operation_and_its_arguments(operation) -> None:  # type: ignore[no-untyped-def]
    page = text()
    section = page.split(f"## {operation.method} /api/v1{operation.path}\n", 1)[1].split("\n## ", 1)[0]
    assert operation.summary in section
    for parameter in operation.arguments:
        assert f"| `{parameter.name.removeprefix('vs.')}` |" in page


def test_the_page_lists_every_status_and_the_limits() -> None:
    assert all(f"| {status} | {meaning} |" in text() for status, meaning in ERRORS.items())
    helps = {row.name: row.help for row in Settings.table()}
    assert all(helps[name] in text() for name in LIMITS)
