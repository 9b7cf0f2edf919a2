import gzip
import os

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, files, read_documents
from esr.loaders.files import Budget, ExpansionError, Limits
from tests.loaders.test_archives import tarred, zipped

GOOD = b'{"id": "a", "text": "Some text."}\n'
FREE_BYTES = 2**20
# The loader skips blank lines, so only the decompressor can notice that there are too many.
BLANKS = (b" " * 1023 + b"\n") * (FREE_BYTES // 1024 + 200)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bombs of one MiB, because 64 take too long."""
    monkeypatch.setattr(files, "FREE_BYTES", FREE_BYTES)


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
def test_a_zip_bomb_is_rejected_and_the_message_names_the_option(kind, tmp_path):
    (tmp_path / "bomb").write_bytes(BOMBS[kind]())
    path = os.fspath(tmp_path / "bomb")
    with pytest.raises(InputError, match=r"like a zip bomb.*--max-expansion"):
        list(read_documents([path]))
    allowed = list(read_documents([path], options=ReadOptions(limits=Limits(expansion=100_000))))
    assert {located.document.id for located in allowed} == {"a"}


def test_a_zip_bomb_also_stops_reading_that_tolerates_malformed_documents(load):
    bad = []
    (document,) = load(BOMBS["gz"](), bad=bad)
    assert document.id == "a"
    assert len(bad) == 1 and "like a zip bomb" in bad[0].problem


def test_the_unpacked_size_has_its_own_limit():
    budget = Budget("x", Limits(unpacked=10))
    budget.spend(10)
    with pytest.raises(ExpansionError, match=r"x: unpacks to more than .* GiB: .*--max-unpacked"):
        budget.spend(1)


def test_below_a_size_no_ratio_is_suspicious():
    budget = Budget("x", Limits())
    budget.packed = 1
    budget.spend(FREE_BYTES)
    with pytest.raises(ExpansionError):
        budget.spend(1)


def test_an_uncompressed_file_may_have_any_size(load):
    assert len(load(GOOD + BLANKS)) == 1
