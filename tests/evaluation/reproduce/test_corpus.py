from pathlib import Path

import pytest

from esr.errors import InputError
from esr.evaluation.reproduce import corpus


def line(document, number, text):
    return f'<s docid="{document}" num="{number}"> {text}</s>\n'


def read(folder, **files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return corpus.read(folder, [Path(name) for name in files])


def test_a_document_in_several_files_is_stored_once(tmp_path):
    archive = read(tmp_path, one=line("A", 1, "x") + line("B", 1, "y"), two=line("A", 1, "x"))
    assert list(archive.documents) == ["A", "B"]
    assert archive.files == {Path("one"): ("A", "B"), Path("two"): ("A",)}
    assert (archive.repeated, archive.conflicts) == (1, [])


def test_sentences_that_only_a_later_file_has_are_added(tmp_path):
    archive = read(tmp_path, one=line("A", 1, "x"), two=line("A", 1, "x") + line("A", 2, "y"))
    assert [s.id for s in archive.documents["A"].sentences] == ["A:1", "A:2"]


def test_a_sentence_with_two_texts_keeps_the_first_and_is_listed(tmp_path):
    archive = read(tmp_path, one=line("A", 1, "first"), two=line("A", 1, "second"))
    assert archive.documents["A"].sentences[0].text == "first"
    assert archive.conflicts == ["A:1"]


def test_empty_files_are_skipped_and_an_empty_archive_is_rejected(tmp_path):
    assert list(read(tmp_path, empty="", one=line("A", 1, "x")).documents) == ["A"]
    with pytest.raises(InputError, match="the archive has no sentence"):
        read(tmp_path, empty="")
