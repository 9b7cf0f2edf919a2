"""What readers get first: passages with their reasons, and judged first answers on real news.

`tests/data/judged-news` has 60 queries for 3,755 news articles under CC0, and the first ten answers of the
plain ranking and of the lists, judged once from 0 to 2: ids and grades, not the texts. The articles are no
part of the project; they are looked for in a folder `shared` beside it.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log2
from pathlib import Path

import pytest

from esr.cli.main import main
from esr.features.furniture import find_furniture
from esr.following.novelty import DEFAULT_THRESHOLD, hits_to_fold, list_passages
from esr.index.filters import Filters
from esr.ranking.passages import Passage
from esr.ranking.ranking import Ranking, lower_furniture
from esr.ranking.searcher import Searcher, open_searcher
from esr.topics import read_topics
from tests.support.elasticsearch import document
from tests.support.index_contents import ENGINES, open_loaded

ROOT = Path(__file__).resolve().parents[2]
JUDGED = ROOT / "tests" / "data" / "judged-news"
NEWS = ROOT.parent / "shared" / "collections" / "newsarticles-cc0" / "docs.jsonl.gz"

DOCUMENTS = [
    document(
        "a", "The flood came at night.", "People slept.", "Flood water rose.", "It was dark.", "They left."
    ),
    document("b", "A river rose.", "Nobody saw it.", "The flood took a bridge.", title="Night of the flood"),
    document(
        "c", "The town had a flood.", "A dam broke.", "The river was high.", "Sheep drowned.", "Night fell."
    ),
]


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with open_loaded(request, tmp_path_factory.mktemp("lists"), DOCUMENTS) as opened:
        yield opened


def find(searcher: Searcher, query: str, filters: Filters | None = None, joins: bool = True) -> list[Passage]:
    prepared = searcher.prepare(query, Ranking())
    filters = filters or Filters()
    return list_passages(prepared, prepared.search(30, filters).hits, filters, overlap=None, joins=joins)


def shown(passages: Sequence[Passage]) -> dict[str, list[str]]:
    return {p.best.sentence_id: [hit.sentence_id for hit in p.sentences] for p in passages}


def test_a_neighbour_without_a_word_is_no_sentence_of_a_passage(searcher: Searcher) -> None:
    assert shown(find(searcher, "flood night", Filters(documents=("a",)))) == {
        "a.s0": ["a.s0"],
        "a.s2": ["a.s2"],
    }
    assert len(find(searcher, "flood night", Filters(documents=("a",)), joins=False)) == 5


def test_a_sentence_that_only_its_document_lifts_is_not_listed(searcher: Searcher) -> None:
    listed = shown(find(searcher, "flood river"))
    assert "c.s4" not in listed and "a.s4" not in listed
    assert {"c.s0", "c.s2", "b.s0", "b.s2"} <= {id for ids in listed.values() for id in ids}


def test_a_list_without_any_word_of_the_query_stays(searcher: Searcher) -> None:
    listed = find(searcher, "night", Filters(documents=("b",)))
    assert {passage.reason for passage in listed} == {"none of the words; in the headline"}
    assert {passage.reason for passage in find(searcher, "night", Filters(documents=("a",)))} == {None}


# Judged first answers


def read_grades() -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (JUDGED / "qrels.txt").read_text().splitlines():
        topic, _, sentence, grade = line.split()
        assert sentence not in grades[topic]
        grades[topic][sentence] = int(grade)
    return grades


def ndcg(ids: Sequence[str], grades: Mapping[str, int], k: int = 5) -> float:
    """nDCG@k with gains of 2^grade - 1."""

    def discounted(ordered: Sequence[int]) -> float:
        return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(ordered[:k]))

    return discounted([grades.get(id, 0) for id in ids]) / discounted(sorted(grades.values(), reverse=True))


def test_the_judged_answers_are_sixty_queries_with_ten_grades_or_more() -> None:
    grades = read_grades()
    topics = [topic.id for topic in read_topics(JUDGED / "topics.tsv")]
    assert len(grades) == 60 and list(grades) == topics
    assert all(len(of_topic) >= 10 and set(of_topic.values()) <= {0, 1, 2} for of_topic in grades.values())


@pytest.mark.slow
def test_no_judged_answer_is_furniture_unless_it_begins_with_a_label() -> None:
    if not NEWS.is_file():
        pytest.skip(f"{NEWS.name} is not there: it would be in {NEWS.parent.name} in shared/collections")
    best: dict[str, int] = defaultdict(int)
    for grades in read_grades().values():
        for sentence, grade in grades.items():
            best[sentence] = max(best[sentence], grade)
    judged = {sentence.rpartition(".")[0] for sentence in best}
    lowered: dict[str, str] = {}
    with gzip.open(NEWS, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["id"] in judged:
                texts = [sentence["text"] for sentence in record["sentences"]]
                found = zip(texts, find_furniture(texts), strict=True)
                lowered |= {f"{record['id']}.s{n}": text for n, (text, value) in enumerate(found) if value}
    answers = {sentence for sentence, grade in best.items() if grade == 2}
    assert len(answers) == 239 and not answers & lowered.keys()
    helpful = [lowered[sentence] for sentence, grade in best.items() if grade == 1 and sentence in lowered]
    assert len(helpful) == 19
    assert all(text.startswith(("READ MORE:", "RELATED:", "PHOTOS:")) for text in helpful)


@pytest.mark.endurance
def test_the_first_five_are_those_that_a_reader_would_choose(tmp_path: Path) -> None:
    if not NEWS.is_file():
        pytest.skip(f"{NEWS.name} is not there: it would be in {NEWS.parent.name} in shared/collections")
    main(["load", str(NEWS), "--index", str(tmp_path / "news")], standalone_mode=False)
    grades, topics = read_grades(), read_topics(JUDGED / "topics.tsv")
    figures: list[tuple[float, int, int]] = []
    with open_searcher(str(tmp_path / "news")) as news:
        ranking = lower_furniture(Ranking(), news.index)
        for topic in topics:
            prepared = news.prepare(topic.fields["title"], ranking)
            hits = prepared.search(10 * hits_to_fold(10)).hits
            first = list_passages(prepared, hits, overlap=DEFAULT_THRESHOLD, joins=True)[:5]
            records = [passage.best.record for passage in first]
            furniture = sum("furniture" in record.features for record in records if record)
            documents = len({record.document_id for record in records if record})
            if any(grades[topic.id].values()):
                figures.append(
                    (ndcg([p.best.sentence_id for p in first], grades[topic.id]), documents, furniture)
                )
    gains, documents, furniture = zip(*figures, strict=True)
    assert sum(gains) / len(gains) > 0.715  # 0.718 by the plain ranking, 0.724 as lists
    assert sum(documents) / len(documents) > 4.1  # 3.75 by the plain ranking
    assert sum(furniture) == 0  # 14 by the plain ranking
