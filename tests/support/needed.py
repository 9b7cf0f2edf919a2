"""What a test needs and may not find: at a desk it is skipped then, but CI must not pass without it."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import NoReturn

import pytest


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
