"""Malformed files of every format and packing: a one-line error or complete documents, and no hang."""

from __future__ import annotations

import io
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr.errors import EsrError, InputError
from esr.loaders import FORMATS, Malformed, ReadOptions, read_documents
from esr.loaders.archives import ocr
from esr.loaders.confined_process import hold_process
from esr.text.document import Document
from tests.support import samples
from tests.support.runs import examples, rounds

pytestmark = pytest.mark.slow

PACKED = ("gz", "zst", "zip", "tar", "tgz")
KINDS = (*FORMATS, *PACKED)
TEXT_KINDS = tuple(format.name for format in FORMATS.values() if format.is_text)
_SECONDS = 10
_CALM = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.fixture(autouse=True, scope="module")
def one_child() -> Iterator[None]:
    """The process that reads PDF is started once, not for each example."""
    with hold_process():
        yield


@contextmanager
def _alarm() -> Iterator[None]:
    """Turns a hang into a failure."""

    def ring(*_: object) -> None:
        raise AssertionError(f"a file of some KB took longer than {_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read(data: bytes, kind: str, bad: list[Malformed] | None) -> tuple[list[Document], str | None]:
    """The documents, and the error message if there is one. `bad` collects malformed documents."""
    stdin, documents = sys.stdin, []
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(data))  # type: ignore[assignment]
    try:
        with _alarm():
            options = ReadOptions(on_malformed=None if bad is None else bad.append)
            for located in read_documents(["-"], kind if kind in FORMATS else "auto", options):
                documents.append(located.document)
    except EsrError as error:
        assert isinstance(error, InputError), error
        return documents, str(error)
    finally:
        sys.stdin = stdin
    return documents, None


def good(kind: str) -> bytes:
    return samples.sample(kind) if kind in FORMATS else samples.packed(kind)


def corrupt(kind: str, seed: int, changes: int, original: bytes | None = None) -> bytes:
    """A good file with some bytes changed, removed, repeated or inserted."""
    pick = random.Random(seed)
    data = bytearray(good(kind) if original is None else original)
    tokens = samples.TOKENS.get(kind, [b"\x00" * 8, b"\xff" * 4])
    for _ in range(changes):
        at = pick.randrange(len(data) + 1)
        end = min(len(data), at + pick.choice((1, 4, 20, 200)))
        change = pick.randrange(6)
        if change == 0 and at < len(data):
            data[at] ^= 1 << pick.randrange(8)
        elif change == 1:
            del data[at:end]
        elif change == 2:
            data[at:at] = pick.choice(tokens)
        elif change == 3:
            data[at:at] = data[at:end] * pick.choice((1, 2, 50))
        elif change == 4:
            data[at:end] = pick.randbytes(end - at)
        else:
            del data[at if at > 20 else len(data) // 2 :]
    return bytes(data)


def is_printable(message: str) -> bool:
    return message.isprintable() and bool(message.encode())


def check(kind: str, data: bytes) -> None:
    """What must hold for any bytes."""
    bad: list[Malformed] = []
    documents, refusal = read(data, kind, bad)
    for problem in bad:
        assert is_printable(problem.where) and is_printable(problem.problem)
    strict, first = read(data, kind, None)
    # What lenient reading yields begins with what strict reading yields, and stops at the first problem.
    assert documents[: len(strict)] == strict
    assert (first is None) == (not bad and refusal is None)
    assert bool(documents) == (refusal is None)
    for message in filter(None, (refusal, first)):
        assert is_printable(message) and message.startswith("standard input")


def fuzz(kind: str) -> Callable[[], None]:
    @given(st.integers(0, 2**32), st.integers(1, 5))
    def malformed(seed: int, changes: int) -> None:
        check(kind, corrupt(kind, seed, changes))

    return malformed


@pytest.mark.parametrize("kind", KINDS)
def test_corrupt_files_are_rejected_or_read_as_complete_documents(kind: str) -> None:
    settings(max_examples=examples(50), **_CALM)(fuzz(kind))()


@pytest.mark.endurance
@pytest.mark.parametrize("kind", KINDS)
def test_many_corrupt_files_are_rejected_or_read_as_complete_documents(kind: str) -> None:
    settings(max_examples=rounds(1000), **_CALM)(fuzz(kind))()


ISSUE = ("issue-mets.xml", "page1.alto.xml", "page2.alto.xml")


def test_corrupt_issues_are_rejected_or_read_as_complete_articles(tmp_path: Path) -> None:
    """METS names other files, so it is read in a folder."""

    @given(st.integers(0, 2**32), st.sets(st.sampled_from(ISSUE), min_size=1))
    @settings(max_examples=examples(50), **_CALM)
    def malformed(seed: int, broken: set[str]) -> None:
        for name in ISSUE:
            kind = "mets" if name.startswith("issue") else "alto"
            data = (samples.FOLDER / name).read_bytes()
            (tmp_path / name).write_bytes(corrupt(kind, seed, 2, data) if name in broken else data)
        ocr.read_mets_files.cache_clear()
        bad: list[Malformed] = []
        try:
            with _alarm():
                found = list(read_documents([str(tmp_path)], options=ReadOptions(on_malformed=bad.append)))
        except InputError as error:
            assert is_printable(str(error))
        else:
            assert found
        assert all(is_printable(problem.problem) for problem in bad)

    malformed()


def fuzz_encoding(kind: str) -> Callable[[], None]:
    @given(st.integers(0, 2**32), st.sampled_from(["latin-1", "koi8-r", "shift_jis", "gb18030", "utf-16"]))
    def malformed(seed: int, encoding: str) -> None:
        text = good(kind).decode() + "Größe, лодка, 船. " * (seed % 5)
        data = bytearray(text.encode(encoding, "replace"))
        pick = random.Random(seed)
        for _ in range(seed % 4):
            data[pick.randrange(len(data))] = pick.randrange(256)
        check(kind, bytes(data))

    return malformed


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_corrupt_text_in_another_encoding_is_rejected_or_read(kind: str) -> None:
    settings(max_examples=examples(50), **_CALM)(fuzz_encoding(kind))()


@pytest.mark.endurance
@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_many_corrupt_texts_in_another_encoding_are_rejected_or_read(kind: str) -> None:
    settings(max_examples=rounds(1000), **_CALM)(fuzz_encoding(kind))()


@pytest.mark.parametrize("kind", KINDS)
@given(st.binary(max_size=200), st.booleans())
@settings(max_examples=examples(30), **_CALM)
def test_any_bytes_after_a_good_start_are_rejected_or_read(kind: str, data: bytes, start: bool) -> None:
    check(kind, good(kind)[:40] + data if start else data)


def check_truncations(kind: str, cuts: int) -> None:
    """Cut a good file at this many places: what is read are documents of the complete file."""
    data = good(kind)
    if kind == "trec":  # bare sentences do not show where their document ends
        data = data[: data.index(b'<s docid="XIE')]
    documents, refusal = read(data, kind, None)
    assert refusal is None
    for cut in range(0, len(data), max(1, len(data) // cuts)):
        prefix, _ = read(data[:cut], kind, [])
        assert prefix == documents[: len(prefix)], f"cut at {cut}"


@pytest.mark.parametrize("kind", [*samples.ENDING, *PACKED])
def test_a_file_that_is_truncated_gives_no_partial_document(kind: str) -> None:
    check_truncations(kind, 60)


@pytest.mark.endurance
@pytest.mark.parametrize("kind", [*samples.ENDING, *PACKED])
def test_a_file_that_is_truncated_anywhere_gives_no_partial_document(kind: str) -> None:
    check_truncations(kind, rounds(5000))
