"""The sample is written by pyarrow."""

import io
import os

import pyarrow as pa
import pyarrow.parquet as pq

from esr.loaders import read_documents
from tests.loaders.conftest import texts
from tests.support.samples import sample


def written(**columns) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_a_row_gives_a_document(load):
    first, second = load(sample("parquet"), "parquet")
    assert (first.id, first.title, first.date) == ("p1", "Ferry back in service", "2024-01-15T10:00:00")
    assert texts(first) == ["The ferry sails again.", "Two hundred people were aboard."]
    assert (second.title, second.date) == (None, None)


def test_it_is_recognised_by_its_first_bytes_in_files_and_pipes(load, tmp_path):
    (tmp_path / "x.parquet").write_bytes(sample("parquet"))
    from_file = [located.document for located in read_documents([os.fspath(tmp_path / "x.parquet")])]
    assert from_file == load(sample("parquet"))


def test_numbers_can_be_ids_and_lists_of_strings_sentences(load):
    (document,) = load(written(id=[7], sentences=[["One.", "Two."]]), "parquet")
    assert (document.id, texts(document)) == ("7", ["One.", "Two."])


def test_times_in_nanoseconds_are_read_to_the_microsecond(load):
    date = pa.array([1_705_312_800_123_456_789], pa.timestamp("ns", "UTC"))
    (document,) = load(written(id=["a"], date=date), "parquet")
    assert document.date == "2024-01-15T10:00:00.123456+00:00"


def test_more_rows_than_a_batch_are_read_in_order(load):
    ids = [str(n) for n in range(200)]
    assert [d.id for d in load(written(id=ids, text=ids), "parquet")] == ids


def test_a_file_that_is_truncated_is_rejected(load_error):
    assert "broken Parquet" in load_error(sample("parquet")[:-5], "parquet")


def test_rows_that_share_one_long_text_are_limited_like_a_zip_bomb(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.files.FREE_BYTES", 2**20)
    bomb = written(id=[str(n) for n in range(500)], text=["x " * 50_000] * 500)
    assert len(bomb) < 50_000
    assert "like a zip bomb" in load_error(bomb, "parquet")
