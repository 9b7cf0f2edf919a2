"""Refinements read certain pages, mails and office documents in their own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from esr.plugin import Malformed, Plugin, PluginWarning, Record, Refinement
from esr.text.document import Document
from tests.loaders.conftest import texts
from tests.plugins.conftest import using
from tests.support.samples import sample

LINES = ["LISTING", "One.", "Two."]
PAGE = f"<!DOCTYPE html><html><body>{''.join(f'<p>{line}</p>' for line in LINES)}</body></html>"
MAIL = f"From: a@b.example\nSubject: x\nDate: Tue, 16 Jan 2024 10:00:00 +0000\n\n{chr(10).join(LINES)}\n"


def read_lines(name: str, lines: Sequence[str]) -> Iterator[Record | Malformed] | None:
    if lines[0] != LINES[0]:
        return None
    return (Record(f"{name}:{n}", {"id": str(n), "text": line}) for n, line in enumerate(lines[1:], 1))


def read_page(name: str, data: bytes, parse: Callable[[], Any]) -> Iterator[Record | Malformed] | None:
    return read_lines(name, [element.text for element in parse().iter("p")]) if b"LISTING" in data else None


@pytest.mark.parametrize(("data", "format"), [(PAGE, "html"), (MAIL, "eml")])
def test_a_refinement_of_a_plugin_reads_the_files_that_it_recognises(
    load: Callable[..., list[Document]], data: str, format: str
) -> None:
    refinement = Refinement(name="listing", read_page=read_page, read_lines=read_lines)
    with using(Plugin(name="mine", refinements={"listing": refinement})):
        assert [texts(document) for document in load(data, format)] == [["One."], ["Two."]]
        (article,) = load(sample("html"), "html")
        assert article.title == "Ferry back in service"


def test_a_refinement_that_fails_is_reported_and_the_file_is_read_as_usual(
    load: Callable[..., list[Document]],
) -> None:
    def fail(name: str, data: bytes, parse: Callable[[], Any]) -> None:
        raise KeyError("page")

    refinement = Refinement(name="broken", read_page=fail)
    with (
        using(Plugin(name="mine", refinements={"broken": refinement})),
        pytest.warns(PluginWarning, match="the refinement 'broken' of the plug-in 'mine' failed: KeyError"),
    ):
        assert [document.title for document in load(sample("html"), "html")] == ["Ferry back in service"]
