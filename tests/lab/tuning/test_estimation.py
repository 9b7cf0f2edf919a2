from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest

import esr
from esr.errors import UsageError
from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.estimation import compute_likelihoods, generate_tasks, sample_sentences
from esr.models.adjustment import Adjustment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, Located, Sentence
from tests.lab.tuning.conftest import documents

ALL = 60  # as many sentences as there are documents: one of each is sample


def test_the_likelihood_of_dir_predicts_each_word_from_the_others(searcher: Searcher) -> None:
    mu = 7.0
    counts = Counter(word for d in documents() for s in d.sentences for word in s.text.split())
    total = counts.total()
    by_id = {s.id: s.text.split() for d in documents() for s in d.sentences}
    sample = sample_sentences(searcher.index, ALL, seed=0)
    sums, words = 0.0, 0
    for sentence in sample:
        terms = by_id[sentence.id]
        for word in terms:
            p = counts[word] / total
            sums += log((terms.count(word) - 1 + mu * p) / (len(terms) - 1 + mu))
            words += 1
    table = compute_likelihoods(searcher.index, [Ranking("dir", params={"mu": mu})], ALL)
    assert table[0] == pytest.approx(sums / words, rel=1e-12)


def test_context_raises_the_likelihood(searcher: Searcher) -> None:
    settings = [Ranking("2si", "document", {"mu": 5.0, "lambda": share}) for share in (0.0, 0.5)]
    without, with_context = compute_likelihoods(searcher.index, settings, ALL)
    assert with_context > without


def test_the_same_seed_gives_the_same_figures(searcher: Searcher) -> None:
    settings = [Ranking("3mm", "both")]
    tables = [compute_likelihoods(searcher.index, settings, 20, seed) for seed in (4, 4, 5)]
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])


def test_a_model_without_probabilities_is_rejected(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="bm25 has no probabilities"):
        compute_likelihoods(searcher.index, [Ranking("bm25")], 10)


def test_priors_and_features_make_no_difference(searcher: Searcher) -> None:
    features = (Adjustment("len", "log"),)
    settings = [Ranking("dir"), Ranking("dir", priors={"length": 1.0}), Ranking("dir", features=features)]
    alone, with_prior, with_feature = (
        compute_likelihoods(searcher.index, [setting], 10)[0] for setting in settings
    )
    assert alone == with_prior == with_feature


def test_the_weight_of_a_feature_cannot_be_estimated(searcher: Searcher) -> None:
    settings = [Ranking("dir", features=(Adjustment("len", "log", {"w": w}),)) for w in (0.1, 1.0)]
    with pytest.raises(UsageError, match=r"tells nothing of features.*--from pseudo-topics"):
        compute_likelihoods(searcher.index, settings, 10)


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
    with esr.open(str(index_path)) as searcher:
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
    with esr.open(str(index_path)) as searcher:
        first, repeated, other = (generate_tasks(searcher.index, 50, seed) for seed in (1, 1, 2))
    assert first == repeated
    assert first != other
    assert len({task.topic for task in first}) == 50


def test_words_are_unstemmed_and_exclude_stop_words(tmp_path: Path) -> None:
    texts = {"d": ("The earthquakes destroyed buildings, hospitals and roads.",)}
    with esr.open(str(index_of(tmp_path, texts, "english"))) as searcher:
        tasks = generate_tasks(searcher.index, 20)
    words = {word for task in tasks for word in task.query.split()}
    assert words <= {"earthquakes", "destroyed", "buildings", "hospitals", "roads"}
    assert all(get_analyzer("english").terms(word) for word in words)


def test_words_of_any_script_keep_their_terms(tmp_path: Path) -> None:
    texts = {"d": ("U.S. troops left बैंक के पास, said Trump\u2019s cafe\u0301 中国经济",)}
    with esr.open(str(index_of(tmp_path, texts, "multilingual"))) as searcher:
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
        esr.open(str(index_of(tmp_path, texts))) as searcher,
        pytest.raises(UsageError, match="no sentence with 5 terms"),
    ):
        generate_tasks(searcher.index, 10)
