"""ePub books: one document per chapter, in the order of the book."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from esr.loaders import read_documents
from esr.loaders.files import FREE_BYTES
from esr.text.document import Document
from tests.loaders.conftest import texts
from tests.support.samples import sample


def repack(changes: dict[str, bytes | None]) -> bytes:
    """The sample with other members. None removes one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(sample("epub"))) as old, zipfile.ZipFile(out, "w") as new:
        members = {name: old.read(name) for name in old.namelist()} | changes
        for name, data in members.items():
            if data is not None:
                kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
                new.writestr(name, data, kind)
    return out.getvalue()


def test_each_chapter_is_a_document_in_the_order_of_the_book(load: Callable[..., list[Document]]) -> None:
    first, second = load(sample("epub"))
    assert (first.id, second.id) == ("stdin/OEBPS/text/two", "stdin/OEBPS/text/one")
    assert (first.title, first.source, first.date) == ("The harbour", "Northern Wire", "2024-01-15")
    assert (first.language, list(first.authors)) == ("en", ["Jane Doe"])
    assert texts(first) == ["It stays closed until May.", "So says the town."]


def test_a_table_of_contents_with_a_text_of_its_own_is_no_chapter(
    load: Callable[..., list[Document]],
) -> None:
    contents = b"<html><body><h1>Contents</h1><p>The harbour, and how the ferry came back.</p></body></html>"
    titles = [document.title for document in load(sample("epub"))]
    assert [document.title for document in load(repack({"OEBPS/nav.xhtml": contents}))] == titles


def test_a_book_in_a_folder_is_one_source(tmp_path: Path) -> None:
    (tmp_path / "book.epub").write_bytes(sample("epub"))
    assert len(list(read_documents([str(tmp_path)]))) == 2


def test_a_protected_chapter_is_malformed_and_the_others_are_read(
    load: Callable[..., list[Document]],
) -> None:
    encryption = (
        b'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>'
        b'<CipherReference URI="OEBPS/text/one.xhtml"/></CipherData></EncryptedData></encryption>'
    )
    bad: list[object] = []
    (document,) = load(repack({"META-INF/encryption.xml": encryption}), "auto", bad)
    assert document.title == "The harbour" and "protected (DRM)" in str(bad[0])


def test_a_broken_chapter_is_malformed_and_the_others_are_read(load: Callable[..., list[Document]]) -> None:
    bad: list[object] = []
    broken = b"<html><body><p " + b"a='1' " * 2_000 + b">A &nbsp;</p></body></html>"
    (document,) = load(repack({"OEBPS/text/one.xhtml": broken}), "auto", bad)
    assert document.title == "The harbour" and "attributes" in str(bad[0])


@pytest.mark.parametrize("name", ["META-INF/container.xml", "OEBPS/content.opf"])
def test_a_book_without_a_package_is_one_message(load_error: Callable[..., str], name: str) -> None:
    assert "broken" in load_error(repack({name: None}), "epub")


def test_a_chapter_that_unpacks_without_end_is_rejected(load_error: Callable[..., str]) -> None:
    bomb = b"<html><body><p>" + b" " * (FREE_BYTES + 2**20) + b"</p></body></html>"
    assert "longer than" in load_error(repack({"OEBPS/text/two.xhtml": bomb}))
