"""The names of `esr.plugin` and of its provisional part: each can be imported, and is used."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

import esr
import esr.plugin
from esr.plugin import provisional
from tools.layout_figures import PERIPHERY

PROJECT = Path(esr.__file__).parents[1]


@pytest.mark.parametrize("module", [esr.plugin, provisional], ids=["interface", "provisional"])
def test_each_name_of_the_interface_can_be_imported(module: ModuleType) -> None:
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_no_name_is_both_promised_and_provisional() -> None:
    assert not set(esr.plugin.__all__) & set(provisional.__all__)


def test_what_the_plugins_of_esr_do_not_use_is_not_provisional() -> None:
    used = {
        alias.name
        for folder in PERIPHERY
        for path in (PROJECT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == provisional.__name__
        for alias in node.names
    }
    assert set(provisional.__all__) == used
