import gzip
import os

import pytest

from esr.errors import InputError
from esr.loaders import Reading, documents, limits
from esr.loaders.limits import Budget, Expanded, Limits
from tests.loaders.test_archives import tarred, zipped

GOOD = b'{"id": "a", "text": "Some text."}\n'
FREE_BYTES = 2**20
# Each blank line is passed over: only what unpacks it can say that there is too much.
BLANKS = (b" " * 1023 + b"\n") * (FREE_BYTES // 1024 + 200)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bombs of a MiB, as those of 64 take their time."""
    monkeypatch.setattr(limits, "FREE_BYTES", FREE_BYTES)


def zst(data: bytes) -> bytes:
    from backports import zstd

    return zstd.compress(data)


BOMBS = {
    "gz": lambda: gzip.compress(GOOD + BLANKS),
    "zst": lambda: zst(GOOD + BLANKS),
    "zip": lambda: zipped({"a.jsonl": GOOD + BLANKS}, compression=8),
    "zip of many": lambda: zipped(
        {f"{n}.jsonl": GOOD + BLANKS[: FREE_BYTES // 8] for n in range(9)}, compression=8
    ),
    "tgz": lambda: gzip.compress(tarred({"a.jsonl": GOOD + BLANKS})),
    "gz in zip": lambda: zipped({"a.jsonl.gz": gzip.compress(GOOD + BLANKS)}),
    "zip in tar": lambda: tarred({"a.zip": zipped({"a.jsonl": GOOD + 9 * BLANKS}, compression=8)}),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_and_the_message_says_how_to_allow_it(kind, tmp_path):
    (tmp_path / "bomb").write_bytes(BOMBS[kind]())
    path = os.fspath(tmp_path / "bomb")
    with pytest.raises(InputError, match=r"as a zip bomb does.*--max-expansion"):
        list(documents([path]))
    allowed = list(documents([path], reading=Reading(limits=Limits(expansion=100_000))))
    assert {located.document.id for located in allowed} == {"a"}


def test_a_bomb_stops_even_what_goes_on_after_malformed_documents(loaded):
    bad = []
    (found,) = loaded(BOMBS["gz"](), bad=bad)
    assert found.id == "a"
    assert len(bad) == 1 and "as a zip bomb does" in bad[0].problem


def test_how_much_may_be_unpacked_has_a_limit_of_its_own():
    budget = Budget("x", Limits(unpacked=10))
    budget.spend(10)
    with pytest.raises(Expanded, match=r"x: unpacks to more than .* GiB: .*--max-unpacked"):
        budget.spend(1)


def test_below_a_size_no_ratio_is_suspicious():
    budget = Budget("x", Limits())
    budget.packed = 1
    budget.spend(FREE_BYTES)
    with pytest.raises(Expanded):
        budget.spend(1)


def test_what_is_not_packed_may_be_of_any_size(loaded):
    assert len(loaded(GOOD + BLANKS)) == 1
