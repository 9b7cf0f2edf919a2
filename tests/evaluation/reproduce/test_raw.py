import pytest

from esr.errors import InputError
from esr.evaluation.reproduce import raw
from tests.evaluation.reproduce import miniature


def test_the_files_are_found_anywhere_below_the_folder(tmp_path):
    miniature.write(tmp_path / "a" / "b")
    available = raw.find(tmp_path)
    assert [files.year for files in available.years] == ["2002", "2003", "2004"]
    assert available.absent == []
    assert available.years[1].archive == tmp_path / "a/b/novelty2003/documents.tar.gz"
    assert available.years[2].qrels.name == "04.qrels.relevant"


def test_a_year_without_any_file_is_left_out(tmp_path):
    miniature.write(tmp_path, ("2002", "2004"))
    assert raw.find(tmp_path).absent == ["2003"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("min_qrels.relevant", "the files of 2002 are incomplete: add min_qrels.relevant (judgements)"),
        ("documents.tar.gz", "the files of 2003 are incomplete: add documents.tar.gz (documents)"),
        ("novelty04.topics.txt", "the files of 2004 are incomplete: add novelty04.topics.txt (topics)"),
    ],
)
def test_a_missing_file_is_named(tmp_path, name, problem):
    miniature.write(tmp_path)
    next(tmp_path.rglob(name)).unlink()
    with pytest.raises(InputError) as error:
        raw.find(tmp_path)
    assert error.value.problem == problem


def test_two_files_with_the_same_name_are_rejected(tmp_path):
    miniature.write(tmp_path)
    (tmp_path / "documents.tar.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"two files named documents.tar.gz"):
        raw.find(tmp_path)


def test_a_folder_without_any_of_the_files_is_rejected_with_their_names(tmp_path):
    with pytest.raises(InputError, match=r"2004: novelty04.topics.txt, 04docs.tar.gz, 04.qrels.relevant"):
        raw.find(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        raw.find(tmp_path / "none")
