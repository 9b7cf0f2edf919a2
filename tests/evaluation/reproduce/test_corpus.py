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


def test_a_document_of_several_files_is_kept_once(tmp_path):
    found = read(tmp_path, one=line("A", 1, "x") + line("B", 1, "y"), two=line("A", 1, "x"))
    assert list(found.documents) == ["A", "B"]
    assert found.files == {Path("one"): ("A", "B"), Path("two"): ("A",)}
    assert (found.repeated, found.conflicts) == (1, [])


def test_sentences_that_only_a_later_file_has_are_joined(tmp_path):
    found = read(tmp_path, one=line("A", 1, "x"), two=line("A", 1, "x") + line("A", 2, "y"))
    assert [s.id for s in found.documents["A"].sentences] == ["A:1", "A:2"]


def test_of_two_texts_of_a_sentence_the_first_is_kept_and_it_is_listed(tmp_path):
    found = read(tmp_path, one=line("A", 1, "first"), two=line("A", 1, "second"))
    assert found.documents["A"].sentences[0].text == "first"
    assert found.conflicts == ["A:1"]


def test_empty_files_are_passed_over_and_no_document_at_all_is_an_error(tmp_path):
    assert list(read(tmp_path, empty="", one=line("A", 1, "x")).documents) == ["A"]
    with pytest.raises(InputError, match="there is no sentence"):
        read(tmp_path, empty="")
