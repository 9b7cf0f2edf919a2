from __future__ import annotations

from pathlib import Path

import pytest

from esr.errors import UsageError
from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.estimation import generate_tasks
from esr.ranking.searcher import open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, Located, Sentence

SENTENCES = {
    f"d{n}": tuple(" ".join(f"w{n}x{at}x{word}" for word in range(12)) for at in range(5)) for n in range(40)
}
"""Every word is unique, so that a query word identifies the sentence it was counts from."""


def index_of(folder: Path, texts: dict[str, tuple[str, ...]], analyzer: str = "plain") -> Path:
    documents = [
        Document(name, tuple(Sentence(f"{name}.s{n}", text) for n, text in enumerate(sentences)))
        for name, sentences in texts.items()
    ]
    FolderWriter(folder / "index", Description(analyzer, True)).load(
        Located("sample", document) for document in documents
    )
    return folder / "index"


@pytest.fixture(scope="module")
def index_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("pseudo"), SENTENCES)


def source_shares(index_path: Path) -> dict[str, float]:
    """The share of query words by the index_path in the collection that they come from."""
    counts = dict.fromkeys(("own", "near", "document", "foreign"), 0)
    with open_searcher(str(index_path)) as searcher:
        for task in generate_tasks(searcher.index, 600, seed=3):
            document, position = task.relevant[0].split(".s")
            for word in task.query.split():
                home, sentence, _ = word[1:].split("x")
                if f"d{home}" != document:
                    counts["foreign"] += 1
                elif sentence == position:
                    counts["own"] += 1
                else:
                    counts["near" if abs(int(sentence) - int(position)) == 1 else "document"] += 1
    return {name: count / sum(counts.values()) for name, count in counts.items()}


def test_half_of_the_words_are_foreign_and_most_others_come_from_the_sentence(index_path: Path) -> None:
    shares = source_shares(index_path)
    assert shares["foreign"] == pytest.approx(0.5, abs=0.03)
    assert shares["own"] == pytest.approx(0.4, abs=0.03)
    assert shares["near"] > shares["document"] > 0.01


def test_pseudo_topics_are_reproducible_and_depend_on_the_seed(index_path: Path) -> None:
    with open_searcher(str(index_path)) as searcher:
        first, repeated, other = (generate_tasks(searcher.index, 50, seed) for seed in (1, 1, 2))
    assert first == repeated
    assert first != other
    assert len({task.topic for task in first}) == 50


def test_words_are_unstemmed_and_exclude_stop_words(tmp_path: Path) -> None:
    texts = {"d": ("The earthquakes destroyed buildings, hospitals and roads.",)}
    with open_searcher(str(index_of(tmp_path, texts, "english"))) as searcher:
        tasks = generate_tasks(searcher.index, 20)
    words = {word for task in tasks for word in task.query.split()}
    assert words <= {"earthquakes", "destroyed", "buildings", "hospitals", "roads"}
    assert all(get_analyzer("english").terms(word) for word in words)


def test_words_of_any_script_keep_their_terms(tmp_path: Path) -> None:
    texts = {"d": ("U.S. troops left बैंक के पास, said Trump\u2019s cafe\u0301 中国经济",)}
    with open_searcher(str(index_of(tmp_path, texts, "multilingual"))) as searcher:
        tasks = generate_tasks(searcher.index, 40)
        terms = set(searcher.index.analyzer.terms(texts["d"][0]))
    words = {word for task in tasks for word in task.query.split()}
    assert {"U.S", "बैंक", "中国", "经济"} <= words
    assert {term for word in words for term in get_analyzer("multilingual").terms(word)} == terms


@pytest.mark.parametrize(
    "texts", [{}, {"d": ()}, {"d": ("one two three four",)}], ids=["no", "empty", "short"]
)
def test_a_collection_without_a_long_sentence_is_rejected(
    tmp_path: Path, texts: dict[str, tuple[str, ...]]
) -> None:
    with (
        open_searcher(str(index_of(tmp_path, texts))) as searcher,
        pytest.raises(UsageError, match="no sentence with 5 terms"),
    ):
        generate_tasks(searcher.index, 10)
