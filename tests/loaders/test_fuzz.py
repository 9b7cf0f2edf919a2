"""Malformed files of every format and packing: a refusal in one line or whole documents, and no hang."""

from __future__ import annotations

import io
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr.documents import Document
from esr.errors import EsrError, InputError
from esr.loaders import FORMATS, Malformed, Reading, documents
from tests.loaders import samples

PACKED = ("gz", "zst", "zip", "tar", "tgz")
KINDS = (*FORMATS, *PACKED)
_SECONDS = 10
_CALM = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@contextmanager
def _alarm() -> Iterator[None]:
    """A hang is a failure that says so."""

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
    """The documents, and the refusal if there is one. `bad` gets what is set aside; None: nothing is."""
    stdin, found = sys.stdin, []
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(data))  # type: ignore[assignment]
    try:
        with _alarm():
            reading = Reading(set_aside=None if bad is None else bad.append)
            for located in documents(["-"], kind if kind in FORMATS else "auto", reading):
                found.append(located.document)
    except EsrError as error:
        assert isinstance(error, InputError), error
        return found, str(error)
    finally:
        sys.stdin = stdin
    return found, None


def good(kind: str) -> bytes:
    return samples.sample(kind) if kind in FORMATS else samples.packed(kind)


def spoilt(kind: str, seed: int, changes: int) -> bytes:
    """A good file with some bytes changed, cut out, doubled or put in."""
    pick = random.Random(seed)
    data = bytearray(good(kind))
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


def fit_to_print(message: str) -> bool:
    return message.isprintable() and bool(message.encode())


def check(kind: str, data: bytes) -> None:
    """What must hold of any bytes, whatever they are."""
    bad: list[Malformed] = []
    found, refusal = read(data, kind, bad)
    for problem in bad:
        assert fit_to_print(problem.where) and fit_to_print(problem.problem)
    strictly, first = read(data, kind, None)
    # What reading on finds begins with what reading strictly found, and stops at the first problem.
    assert found[: len(strictly)] == strictly
    assert (first is None) == (not bad and refusal is None)
    assert bool(found) == (refusal is None)
    for message in filter(None, (refusal, first)):
        assert fit_to_print(message) and message.startswith("standard input")


def fuzz(kind: str) -> Callable[[], None]:
    @given(st.integers(0, 2**32), st.integers(1, 5))
    def malformed(seed: int, changes: int) -> None:
        check(kind, spoilt(kind, seed, changes))

    return malformed


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_files_are_refused_or_read_as_whole_documents(kind: str) -> None:
    settings(max_examples=50, **_CALM)(fuzz(kind))()


@pytest.mark.endurance
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_spoilt_files_are_refused_or_read_as_whole_documents(kind: str) -> None:
    settings(max_examples=1000, **_CALM)(fuzz(kind))()


@pytest.mark.parametrize("kind", KINDS)
@given(st.binary(max_size=200), st.booleans())
@settings(max_examples=30, **_CALM)
def test_any_bytes_after_a_good_start_are_refused_or_read(kind: str, data: bytes, start: bool) -> None:
    check(kind, good(kind)[:40] + data if start else data)


def never_partial(kind: str, most: int) -> None:
    """Cut a good file at so many places: what is read are documents that the whole file has."""
    data = good(kind)
    if kind == "trec":  # bare sentences tell nothing of where their document ends
        data = data[: data.index(b'<s docid="XIE')]
    documents, refusal = read(data, kind, None)
    assert refusal is None
    for cut in range(0, len(data), max(1, len(data) // most)):
        found, _ = read(data[:cut], kind, [])
        assert found == documents[: len(found)], f"cut at {cut}"


@pytest.mark.parametrize("kind", [*samples.ENDING, *PACKED])
def test_a_file_that_is_cut_off_gives_no_partial_document(kind: str) -> None:
    never_partial(kind, 60)


@pytest.mark.endurance
@pytest.mark.parametrize("kind", [*samples.ENDING, *PACKED])
def test_a_file_that_is_cut_off_at_any_byte_gives_no_partial_document(kind: str) -> None:
    never_partial(kind, 10**9)
