"""Which tests run, and how often they repeat what may break."""

from __future__ import annotations

import math
import os
from importlib import import_module
from types import ModuleType
from typing import NoReturn

import pytest

IS_LONG = os.environ.get("ESR_TEST_LONG", "") not in ("", "no")


def rounds(many: int) -> int:
    """The number of repetitions: a twentieth of `many`, at least two; all of them with ESR_TEST_LONG=yes."""
    return many if IS_LONG else max(2, many // 20)


def examples(many: int) -> int:
    """The number of generated examples of other tests: a third of `many`, all with ESR_TEST_LONG=yes."""
    return many if IS_LONG else math.ceil(many / 3)


SHARDS = (1, 3) if IS_LONG else (3,)
"""The numbers of shards of tests that hold for any number. One shard is the easier case."""
only_long = pytest.mark.skipif(not IS_LONG, reason="ESR_TEST_LONG=yes runs it")


def unmeasured() -> dict[str, str]:
    """The environment for a process whose imports are looked at: coverage.py would add its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


# At a desk, a test is skipped that lacks what it needs. CI must not pass without it.


def end_test(reason: str) -> NoReturn:
    """End the present test, or the file that is being collected, for want of what it needs."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def need(module: str) -> ModuleType:
    """A module, if it is there with what it needs itself."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        end_test(f"needs {error.name}: pip install -e '.[dev]'")
