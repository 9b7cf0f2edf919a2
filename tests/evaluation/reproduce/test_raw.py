import pytest

from esr.errors import InputError
from esr.evaluation.reproduce import raw
from tests.evaluation.reproduce import miniature


def test_the_files_are_found_anywhere_below_the_folder(tmp_path):
    miniature.write(tmp_path / "a" / "b")
    held = raw.find(tmp_path)
    assert [each.year for each in held.years] == ["2002", "2003", "2004"]
    assert held.absent == []
    assert held.years[1].archive == tmp_path / "a/b/novelty2003/documents.tar.gz"
    assert held.years[2].qrels.name == "04.qrels.relevant"


def test_a_year_that_is_wholly_missing_is_left_out(tmp_path):
    miniature.write(tmp_path, ("2002", "2004"))
    assert raw.find(tmp_path).absent == ["2003"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("min_qrels.relevant", "of 2002 there is no min_qrels.relevant (judgements) in this folder"),
        ("documents.tar.gz", "of 2003 there is no documents.tar.gz (documents) in this folder"),
        ("novelty04.topics.txt", "of 2004 there is no novelty04.topics.txt (topics) in this folder"),
    ],
)
def test_a_missing_file_is_named(tmp_path, name, said):
    miniature.write(tmp_path)
    next(tmp_path.rglob(name)).unlink()
    with pytest.raises(InputError) as error:
        raw.find(tmp_path)
    assert error.value.problem == said


def test_a_name_that_stands_twice_is_refused(tmp_path):
    miniature.write(tmp_path)
    (tmp_path / "documents.tar.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"two files called documents.tar.gz"):
        raw.find(tmp_path)


def test_a_folder_without_any_of_the_files_is_refused_with_their_names(tmp_path):
    with pytest.raises(InputError, match=r"2004: novelty04.topics.txt, 04docs.tar.gz, 04.qrels.relevant"):
        raw.find(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        raw.find(tmp_path / "none")
