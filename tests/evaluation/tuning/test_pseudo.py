from __future__ import annotations

from pathlib import Path

import pytest

import esr
from esr import analysis
from esr.documents import Document, Located, Sentence
from esr.engines.index import Description
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import UsageError
from esr.evaluation.tuning import pseudo

SENTENCES = {
    f"d{n}": tuple(" ".join(f"w{n}x{at}x{word}" for word in range(12)) for at in range(5)) for n in range(40)
}
"""No word stands twice, so that every word of a query tells where it was drawn."""


def index_of(folder: Path, texts: dict[str, tuple[str, ...]], analyzer: str = "plain") -> Path:
    documents = [
        Document(name, tuple(Sentence(f"{name}.s{n}", text) for n, text in enumerate(some)))
        for name, some in texts.items()
    ]
    FolderWriter(folder / "index", Description(analyzer, True)).load(
        Located("made up", document) for document in documents
    )
    return folder / "index"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("pseudo"), SENTENCES)


def shares(place: Path) -> dict[str, float]:
    """Which part of all words of pseudo-topics comes from where."""
    drawn = dict.fromkeys(("own", "near", "document", "foreign"), 0)
    with esr.open(str(place)) as searcher:
        for task in pseudo.tasks(searcher.index, 600, seed=3):
            document, at = task.relevant[0].split(".s")
            for word in task.query.split():
                home, sentence, _ = word[1:].split("x")
                if f"d{home}" != document:
                    drawn["foreign"] += 1
                elif sentence == at:
                    drawn["own"] += 1
                else:
                    drawn["near" if abs(int(sentence) - int(at)) == 1 else "document"] += 1
    return {name: count / sum(drawn.values()) for name, count in drawn.items()}


def test_half_of_a_pseudo_topic_is_foreign_and_most_of_the_rest_is_the_sentences_own(place: Path) -> None:
    found = shares(place)
    assert found["foreign"] == pytest.approx(0.5, abs=0.03)
    assert found["own"] == pytest.approx(0.4, abs=0.03)
    assert found["near"] > found["document"] > 0.01


def test_pseudo_topics_are_the_same_again_for_the_same_seed_and_others_for_another(place: Path) -> None:
    with esr.open(str(place)) as searcher:
        first, again, other = (pseudo.tasks(searcher.index, 50, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({task.topic for task in first}) == 50


def test_words_are_as_they_were_written_and_without_stop_words(tmp_path: Path) -> None:
    texts = {"d": ("The earthquakes destroyed buildings, hospitals and roads.",)}
    with esr.open(str(index_of(tmp_path, texts, "english"))) as searcher:
        made = pseudo.tasks(searcher.index, 20)
    words = {word for task in made for word in task.query.split()}
    assert words <= {"earthquakes", "destroyed", "buildings", "hospitals", "roads"}
    assert all(analysis.get("english").terms(word) for word in words)


@pytest.mark.parametrize(
    "texts", [{}, {"d": ()}, {"d": ("one two three four",)}], ids=["no", "empty", "short"]
)
def test_a_collection_without_a_long_sentence_is_refused(
    tmp_path: Path, texts: dict[str, tuple[str, ...]]
) -> None:
    with (
        esr.open(str(index_of(tmp_path, texts))) as searcher,
        pytest.raises(UsageError, match="no sentence of 5 terms"),
    ):
        pseudo.tasks(searcher.index, 10)
