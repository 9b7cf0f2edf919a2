"""Patterns that are compiled when they are first used, and hashes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from esr.stdlib import compile_lazily, hash64, import_lazily


def test_a_lazy_pattern_finds_what_a_compiled_one_finds() -> None:
    lazy, compiled = compile_lazily(r"(a)(b)?", re.I), re.compile(r"(a)(b)?", re.I)
    assert lazy.findall("Ab a b") == compiled.findall("Ab a b")
    assert lazy.sub("x", "Ab a b") == compiled.sub("x", "Ab a b")
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)


def test_a_pattern_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile = re.compile
    monkeypatch.setattr(re, "compile", lambda *given: compiled.append(given[0]) or compile(*given))
    lazy = compile_lazily("a+")
    assert compiled == []
    assert [match[0] for text in ("aa", "ba") if (match := lazy.search(text))] == ["aa", "a"]
    assert compiled == ["a+"]


def test_a_faulty_pattern_says_so_at_its_first_use() -> None:
    lazy = compile_lazily("(")
    with pytest.raises(re.error):
        lazy.search("a")


# Of "storm". Another value would make every index on disk unreadable.
HASH = 0x9E76995DF981521F


def test_a_module_is_imported_when_an_attribute_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seldom_needed.py").write_text("value = 1\nclass Error(Exception): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    seldom_needed = import_lazily("seldom_needed")
    assert not hasattr(seldom_needed, "__file__") and "seldom_needed" not in sys.modules
    assert seldom_needed.value == 1
    module = sys.modules["seldom_needed"]
    assert seldom_needed.Error is module.Error
    monkeypatch.setattr(module, "value", 2)
    assert seldom_needed.value == 2


def test_a_module_that_is_not_installed_is_missing_at_its_first_use() -> None:
    absent = import_lazily("esr_has_no_such_module")
    with pytest.raises(ModuleNotFoundError, match="esr_has_no_such_module"):
        absent.value  # noqa: B018


def test_a_hash_is_the_same_in_every_process_and_version() -> None:
    assert hash64("storm") == HASH


def test_bytes_that_are_no_utf_8_have_a_hash() -> None:
    assert hash64("\udcff") != hash64("\udcfe")
