"""New sentences, the newest sentences, and "More like this", on both engines.

New sentences are compared with a plain scan of the exported documents, on several shards. The measure of
repeats (docs/formulas.md, G.1) is tested on terms alone.

Then what readers get first: passages with their reasons, and judged first answers on real news.
`tests/data/judged-news` has 60 queries for 3,755 news articles under CC0, and the first ten answers of the
plain ranking and of the lists, judged once from 0 to 2: ids and grades, not the texts. The articles are no
part of the project; they are looked for in a folder `shared` beside it.
"""

from __future__ import annotations

import gzip
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.cli.main import main
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import UsageError
from esr.features.furniture import find_furniture
from esr.following import novelty
from esr.following.newest import find_newest
from esr.following.novelty import find_novel
from esr.following.overlap import (
    DEFAULT_THRESHOLD,
    FEW_TERMS,
    FEW_TERMS_IN_LISTS,
    Overlap,
    check_threshold,
    contain,
    find_overlaps,
    group_repeats,
    parse_threshold,
)
from esr.following.passages import hits_to_fold, list_passages
from esr.following.repeats import group_hits
from esr.following.similar_sentences import find_similar, prepare_similar
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.index.runs.enrichment_run import run_enrichment
from esr.ranking.answers import Passage
from esr.ranking.ranking import Ranking, lower_furniture
from esr.ranking.searcher import MAX_TERMS, Searcher, open_searcher
from esr.text.dates import parse_date_start
from esr.text.document import Document
from esr.topics.topic_files import read_topics
from tests.following.test_timeline import random_documents
from tests.support.elasticsearch import RELATIVE, document, fresh, load
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.index_contents import ENGINES, open_loaded
from webui.app import create_app

Terms = frozenset[str]
RARE = [f"rare{n}" for n in range(30)]
ADDED = ["she", "told", "reuters", "on", "friday"]


def documents() -> list[Document]:
    """Two hundred stories: most repeat an earlier sentence, with words added, left out or moved."""
    rng, told, stories = random.Random(8), [["storm", *RARE[:8]]], []
    for n in range(200):
        texts = []
        for _ in range(rng.randint(1, 3)):
            words = [*rng.choice(told)]
            if rng.random() < 0.4:
                words = ["storm", *rng.sample(RARE, rng.randint(2, 10))]
            words = [word for word in words if word == "storm" or rng.random() < 0.95]
            words += rng.sample(ADDED, rng.randint(0, 3))
            rng.shuffle(words)
            told.append(words)
            texts.append(" ".join(words) + ".")
        day = date(2017, 1, 1) + timedelta(days=rng.randrange(100))
        stories.append(document(f"d{n}", *texts, **({"date": f"{day}"} if rng.random() < 0.9 else {})))
    return stories


@pytest.fixture(
    scope="module",
    params=[
        ("embedded", None),
        pytest.param(("elasticsearch", 1), marks=pytest.mark.elasticsearch),
        pytest.param(("elasticsearch", 3), marks=pytest.mark.elasticsearch),
    ],
    ids=["embedded", "one shard", "three shards"],
)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    engine, shards = request.param
    request.param = engine
    folder: Path = tmp_path_factory.mktemp("novelty")
    with open_loaded(request, folder, documents(), analyzer="plain", shards=shards) as opened:
        yield opened


def scan(searcher: Searcher, threshold: float, first: int | None = None) -> list[str]:
    """The ids of what is new, by all pairs. `first`: the first millisecond that is asked for."""
    stories = list(searcher.index.documents())
    in_order = sorted(
        ((s, each) for each in stories for s in each.sentences),
        key=lambda pair: parse_date_start(pair[1].date) if pair[1].date else math.inf,
    )
    matching = [(s.id, _terms(s.text), each.date) for s, each in in_order if "storm" in _terms(s.text)]
    sf = Counter(term for s, _ in in_order for term in _terms(s.text))
    weights = {term: math.log((len(in_order) + 1) / (0.5 + count)) for term, count in sf.items()}

    def share(of: Terms, earlier: Terms) -> float:
        return math.fsum(weights[t] for t in of & earlier) / math.fsum(weights[t] for t in of)

    new = []
    for n, (id, terms, when) in enumerate(matching):
        if first is not None and (when is None or parse_date_start(when) < first):
            continue
        if not any(_repeats(terms, earlier, share, threshold) for _, earlier, _ in matching[:n]):
            new.append(id)
    return new


def _repeats(terms: Terms, earlier: Terms, share: Callable[[Terms, Terms], float], threshold: float) -> bool:
    if 2 * len(terms & earlier) < (len(terms) if len(terms) >= 5 else max(len(terms), len(earlier))):
        return False
    both = len(terms) >= 5 or share(earlier, terms) >= threshold
    return both and share(terms, earlier) >= threshold


def _terms(text: str) -> Terms:
    return frozenset(text.strip(".").split())


def ids(searcher: Searcher, k: int, threshold: float, filters: Filters = NO_FILTERS) -> Sequence[str]:
    novel = find_novel(searcher.prepare("storm", Ranking()), k, filters, threshold=threshold)
    assert novel.answer.incomplete is None
    return [hit.sentence_id for hit in novel.answer.hits]


@pytest.mark.parametrize("threshold", [0.6, 0.8, 1.0])
def test_what_is_new_is_what_a_plain_scan_finds(searcher: Searcher, threshold: float) -> None:
    expected = scan(searcher, threshold)
    assert 50 < len(expected) < 350
    assert ids(searcher, 1000, threshold) == expected
    assert ids(searcher, 7, threshold) == expected[:7]


def test_what_was_said_before_the_first_day_is_not_new(searcher: Searcher) -> None:
    first = parse_date_start("2017-03-01")
    expected = scan(searcher, 0.8, first)
    assert 0 < len(expected) < len(scan(searcher, 0.8))
    assert ids(searcher, 1000, 0.8, Filters(date_from=first)) == expected


def test_reading_goes_on_until_k_are_new(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scan(searcher, 0.5)
    monkeypatch.setattr(novelty, "FIRST_READ", 4)
    monkeypatch.setattr(novelty, "GROWTH", 2)
    analyzed: list[str] = []
    calls: list[int] = []
    analyze = novelty.analyze_hits

    def note(hits: Sequence[Hit], index: Index) -> list[Terms]:
        calls.append(len(hits))
        analyzed.extend(hit.sentence_id for hit in hits)
        return analyze(hits, index)

    monkeypatch.setattr(novelty, "analyze_hits", note)
    assert ids(searcher, len(expected), 0.5) == expected
    assert len(calls) > 1 and sum(calls) > 2 * len(expected), "one reading was enough"
    assert sum(calls) == len(set(analyzed)), "a sentence was analysed again"


def test_the_answer_says_so_where_too_much_would_have_to_be_read(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = scan(searcher, 0.8)
    monkeypatch.setattr(novelty, "MAX_READ", 50)
    novel = find_novel(searcher.prepare("storm", Ranking()), 45)
    total = novel.answer.total
    assert [hit.sentence_id for hit in novel.answer.hits] == expected[: len(novel.answer.hits)]
    assert novel.answer.incomplete == (
        f"only the oldest 50 of {total} sentences were compared: limit the dates, or add words to the query"
    )
    monkeypatch.setattr(novelty, "MAX_BEFORE", 5)
    late = Filters(date_from=parse_date_start("2017-03-01"))
    with_before = find_novel(searcher.prepare("storm", Ranking()), 1, late).answer.incomplete
    assert with_before is not None and "only the last 5 of" in with_before


def test_every_sentence_that_was_read_is_in_one_group(searcher: Searcher) -> None:
    novel = find_novel(searcher.prepare("storm", Ranking()), 1000)
    in_groups = [hit.sentence_id for group in novel.repeats.values() for hit in group]
    in_groups += [hit.sentence_id for hit in novel.answer.hits]
    assert len(in_groups) == len(set(in_groups)) == novel.answer.total


def test_new_sentences_have_the_scores_of_the_ranking(searcher: Searcher) -> None:
    prepared = searcher.prepare("storm", Ranking())
    ranked = {hit.sentence_id: hit.score for hit in prepared.search(1000).hits}
    novel = find_novel(prepared, 20).answer.hits
    assert len(novel) == 20
    for hit in novel:
        assert hit.score == pytest.approx(ranked[hit.sentence_id], rel=1e-4)


def test_both_engines_fold_the_same_sentences(searcher: Searcher, tmp_path: Path) -> None:
    """Clusters of a list are those of a folder of the same documents."""
    hits = searcher.prepare("storm", Ranking()).search(300).hits
    grouped = group_hits(hits, searcher.index, 0.8)
    assert 20 < len(grouped) < 250
    load(f"{tmp_path}/folder", documents(), analyzer="plain")
    with open_searcher(f"{tmp_path}/folder") as folder:
        assert group_hits(hits, folder.index, 0.8) == grouped


@pytest.mark.parametrize(("k", "threshold", "said"), [(0, 0.8, "k must be"), (5, 0.3, "the overlap must be")])
def test_wrong_numbers_are_refused(tmp_path: Path, k: int, threshold: float, said: str) -> None:
    load(f"{tmp_path}/folder", documents()[:3], analyzer="plain")
    with open_searcher(f"{tmp_path}/folder") as folder, pytest.raises(UsageError, match=said):
        find_novel(folder.prepare("storm", Ranking()), k, threshold=threshold)


@pytest.fixture
def searcher_of_newest(anywhere: str) -> Iterator[Searcher]:
    load(anywhere, list(random_documents()), analyzer="plain")
    with open_searcher(anywhere) as opened:
        yield opened


def expected(documents: list[Document], words: set[str], source: str | None = None) -> list[str]:
    """A plain scan: newest first, undated last, else in the order of the collection."""
    found = [
        (-parse_date_start(each.date) if each.date else float("inf"), sentence.id)
        for each in documents
        for sentence in each.sentences
        if words <= set(sentence.text.strip(".").split()) and source in (None, each.source)
    ]
    return [id for _, id in sorted(found, key=lambda pair: pair[0])]


@pytest.mark.parametrize("k", [1, 7, 1000])
def test_all_that_match_come_the_newest_first(searcher_of_newest: Searcher, k: int) -> None:
    documents = list(searcher_of_newest.index.documents())
    for words, source in (({"storm"}, None), ({"storm", "flood"}, "a.org")):
        prepared = searcher_of_newest.prepare(" ".join(words), Ranking())
        filters = Filters(sources=(source,)) if source else Filters()
        answer, everything = find_newest(prepared, k, filters), expected(documents, words, source)
        assert [hit.sentence_id for hit in answer.hits] == everything[:k]
        assert answer.total == len(everything)


def test_three_shards_give_the_same_order(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, list(random_documents()), analyzer="plain", shards=3)
        with open_searcher(where) as opened:
            test_all_that_match_come_the_newest_first(opened, 1000)


def test_scores_are_those_of_the_ranking(searcher_of_newest: Searcher) -> None:
    for ranking in (Ranking(), Ranking(model="bm25"), Ranking(context="surrounding")):
        prepared = searcher_of_newest.prepare("storm flood", ranking)
        ranked = {hit.sentence_id: hit.score for hit in prepared.search(5000).hits}
        answer = find_newest(prepared, 30)
        assert answer.hits
        for hit in answer.hits:
            assert hit.score == pytest.approx(ranked[hit.sentence_id], rel=RELATIVE)


def test_several_segments_keep_the_order_of_the_collection(tmp_path: object) -> None:
    rng, where = random.Random(5), f"{tmp_path}/index"
    documents = [document(f"d{n}", "storm", date=f"2017-0{rng.randint(1, 3)}-01") for n in range(60)]
    for n in range(0, 60, 20):
        load(where, documents[n : n + 20], if_exists="append" if n else "fail")
    with open_searcher(where) as opened:
        for k in (5, 25, 60):
            hits = find_newest(opened.prepare("storm", Ranking()), k).hits
            assert [hit.sentence_id for hit in hits] == expected(documents, {"storm"})[:k]


WORDS = "alpha beta gamma delta omega sigma kappa zeta theta iota"


def weigh(terms: Collection[str]) -> Mapping[str, float]:
    """Common words weigh little."""
    return {term: 1.0 if term in ("she", "told", "reuters") else 5.0 for term in terms}


def overlaps(*texts: str, few_terms: int = FEW_TERMS) -> list[Overlap | None]:
    return find_overlaps([frozenset(text.split()) for text in texts], weigh, few_terms)


def groups(*texts: str, threshold: float = DEFAULT_THRESHOLD, few_terms: int = FEW_TERMS) -> list[list[int]]:
    return group_repeats(overlaps(*texts, few_terms=few_terms), threshold)


def test_what_is_added_at_the_end_in_common_words_still_repeats() -> None:
    assert groups(WORDS, f"{WORDS} she told reuters") == [[0, 1]]
    assert groups("alpha beta gamma", "alpha beta gamma she told reuters") == [[0, 1]]


def test_the_share_is_of_the_weights_of_the_later_sentence() -> None:
    (_, overlap) = overlaps(WORDS, "alpha beta gamma delta omega sigma she told")
    assert overlap == Overlap(0, 30 / 32)


def test_a_sentence_that_says_more_is_new_and_one_that_says_less_is_not() -> None:
    assert groups("alpha beta gamma delta omega", WORDS) == [[0], [1]]
    assert groups(WORDS, "alpha beta gamma delta omega sigma kappa zeta") == [[0, 1]]


def test_few_terms_are_no_repeat_of_a_long_sentence_that_happens_to_have_them() -> None:
    assert groups(WORDS, "alpha beta") == [[0], [1]]
    assert groups("alpha beta", "beta alpha") == [[0, 1]]
    assert groups("alpha beta gamma delta omega", "alpha beta gamma") == [[0], [1]]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (
            "explain hawaii block trump travel ban",
            "feder judg hawaii block trump revis travel ban hour befor take effect",
        ),
        (
            "brexit secretari david davi said",
            "brexit secretari david davi said mp had alreadi approv bill without ani string attach",
        ),
    ],
)
def test_a_short_sentence_is_not_folded_into_a_long_one_on_the_same_event(short: str, long: str) -> None:
    in_lists = partial(groups, few_terms=FEW_TERMS_IN_LISTS)
    assert in_lists(long, short) == [[0], [1]]
    assert in_lists(long, short, long) == [[0, 2], [1]]
    assert in_lists(short, short) == [[0, 1]]


def test_a_repeat_may_repeat_any_sentence_of_a_group() -> None:
    longer = f"{WORDS} she told reuters"
    assert groups(WORDS, longer, f"{longer} rho") == [[0, 1, 2]]
    assert groups(WORDS, "rho tau phi chi psi", longer) == [[0, 2], [1]]


def test_of_equal_shares_the_first_counts() -> None:
    assert overlaps("alpha beta", "beta alpha", "alpha beta") == [None, Overlap(0, 1.0), Overlap(0, 1.0)]


def test_sentences_without_a_term_are_new() -> None:
    assert overlaps("", "", "alpha") == [None, None, None]


def test_nothing_is_weighed_where_no_sentence_has_half_of_another() -> None:
    def refuse(terms: Collection[str]) -> Mapping[str, float]:
        raise AssertionError(terms)

    sentences = [frozenset(text.split()) for text in ("alpha beta gamma", "gamma delta omega", "sigma")]
    assert find_overlaps(sentences, refuse) == [None, None, None]


@pytest.mark.parametrize("text", ["0.49", "1.01", "nan", "inf", "-1", "", "much"])
def test_a_threshold_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"the overlap must be .*from 0\.5 to 1"):
        parse_threshold(text)
    assert (check_threshold(0.5), parse_threshold("1"), parse_threshold("0.75")) == (0.5, 1.0, 0.75)


SENTENCES = st.lists(st.frozensets(st.sampled_from([*WORDS.split(), "she", "told"]), max_size=8), max_size=12)


@given(SENTENCES)
def test_all_pairs_give_the_same_overlaps(sentences: list[frozenset[str]]) -> None:
    """A plain scan, without the look-up of rare terms."""
    weights = weigh([term for terms in sentences for term in terms])
    for place, found in enumerate(find_overlaps(sentences, weigh)):
        terms, shares = sentences[place], []
        for earlier in sentences[:place]:
            smaller = len(terms) if len(terms) >= FEW_TERMS else max(len(terms), len(earlier))
            has_half = terms and 2 * len(terms & earlier) >= smaller
            shares.append(contain(terms, earlier, weights) if has_half else -math.inf)
        best = max(shares, default=-math.inf)
        assert (found.share if found else -math.inf) == best
        if found is not None:
            wanted = terms if terms in sentences[:place] else sentences[shares.index(best)]
            assert sentences[found.place] == wanted


@given(SENTENCES, st.sampled_from([0.5, 0.8, 1.0]))
def test_each_sentence_is_in_one_group_and_more_of_them_change_no_group_before(
    sentences: list[frozenset[str]], threshold: float
) -> None:
    all_groups = group_repeats(find_overlaps(sentences, weigh), threshold)
    assert sorted(place for group in all_groups for place in group) == list(range(len(sentences)))
    half = len(sentences) // 2
    fewer = group_repeats(find_overlaps(sentences[:half], weigh), threshold)
    assert fewer == [group for each in all_groups if (group := [n for n in each if n < half])]


NEWS = [
    document(
        "a", "A tunnel fire closed the Brenner railway.", "Nobody was hurt.", "The Brenner railway reopened."
    ),
    document("b", "The Brenner railway was closed by a fire in a tunnel.", "Trains were late."),
    document("c", "A railway strike ended.", "The the of."),
    document("d", *(f"Fire number {n} burned in the tunnel." for n in range(30))),
]


@pytest.fixture
def searcher_of_similar(anywhere: str) -> Iterator[Searcher]:
    load(anywhere, NEWS, analyzer="english-stem")
    with open_searcher(anywhere) as opened:
        yield opened


def ids_similar(searcher: Searcher, sentence: str, k: int = 3, own_document: bool = False) -> list[str]:
    return [hit.sentence_id for hit in find_similar(searcher, sentence, k, own_document=own_document).hits]


def test_the_same_news_elsewhere_comes_first_and_its_own_document_by_choice(
    searcher_of_similar: Searcher,
) -> None:
    assert ids_similar(searcher_of_similar, "a.s0")[0] == "b.s0"
    assert not any(id.startswith("a.") for id in ids_similar(searcher_of_similar, "a.s0", 30))
    with_own = ids_similar(searcher_of_similar, "a.s0", 30, own_document=True)
    assert "a.s0" not in with_own and "a.s2" in with_own


def test_a_long_document_of_its_own_does_not_crowd_out_the_others(searcher_of_similar: Searcher) -> None:
    found = ids_similar(searcher_of_similar, "d.s3", 3)
    assert len(found) == 3 and not any(id.startswith("d.") for id in found)
    assert len(ids_similar(searcher_of_similar, "d.s3", 20, own_document=True)) == 20


def test_the_words_that_say_most_are_searched_for(searcher_of_similar: Searcher) -> None:
    prepared, document_id = prepare_similar(searcher_of_similar, "a.s0")
    assert document_id == "a"
    assert "brenner" in prepared.counts and len(prepared.counts) <= 8


def test_a_sentence_of_more_words_than_a_query_may_have_has_similar_ones(anywhere: str) -> None:
    text = " ".join(["Brenner"] * 4 + [f"word{n}" for n in range(MAX_TERMS)])
    load(anywhere, [document("a", text), document("b", "Brenner"), document("c", "Rain")], analyzer="plain")
    with open_searcher(anywhere) as searcher:
        assert ids_similar(searcher, "a.s0") == ["b.s0"]


def test_a_sentence_without_words_and_an_unknown_one_are_errors(searcher_of_similar: Searcher) -> None:
    with pytest.raises(UsageError, match=r"'c\.s1' has no words to compare it by"):
        find_similar(searcher_of_similar, "c.s1")
    with pytest.raises(UsageError, match="no sentence 'x'"):
        find_similar(searcher_of_similar, "x")


def test_by_meaning_the_same_in_other_words_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = str(write_tiny_encoder(tmp_path / "tiny", 32))
    monkeypatch.setenv("ESR_ENCODER", encoder)
    news = [document("a", "Hurricane relief."), document("b", "Relief storm."), document("c", "Relief bank.")]
    where = str(tmp_path / "index")
    load(where, news, analyzer="english-stem")
    with open_searcher(where) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
    with open_searcher(where) as searcher:
        by_meaning = Ranking.from_dict({"rerank": [{"signal": "meaning", "w": 10.0}]})
        hits = find_similar(searcher, "a.s0", ranking=by_meaning).hits
        assert [hit.sentence_id for hit in hits] == ["b.s0", "c.s0"]
        words = find_similar(searcher, "a.s0").hits
        assert words[0].score == words[1].score  # both have one of its words
        client = create_app(open_searcher(where)).test_client()
        assert "By words and meaning" in client.get("/similar?id=a.s0").text
        assert "By words alone" in client.get("/similar?id=a.s0&rerank=meaning:10").text


ROOT = Path(__file__).resolve().parents[2]
JUDGED = ROOT / "tests" / "data" / "judged-news"
CORPUS = ROOT.parent / "shared" / "collections" / "newsarticles-cc0" / "docs.jsonl.gz"

PASSAGES = [
    document(
        "a", "The flood came at night.", "People slept.", "Flood water rose.", "It was dark.", "They left."
    ),
    document("b", "A river rose.", "Nobody saw it.", "The flood took a bridge.", title="Night of the flood"),
    document(
        "c", "The town had a flood.", "A dam broke.", "The river was high.", "Sheep drowned.", "Night fell."
    ),
]


@pytest.fixture(scope="module", params=ENGINES)
def searcher_of_passages(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searcher]:
    with open_loaded(request, tmp_path_factory.mktemp("lists"), PASSAGES) as opened:
        yield opened


def find_listed(
    searcher: Searcher, query: str, filters: Filters | None = None, joins: bool = True
) -> list[Passage]:
    prepared = searcher.prepare(query, Ranking())
    filters = filters or Filters()
    return list_passages(prepared, prepared.search(30, filters).hits, filters, overlap=None, joins=joins)


def shown(passages: Sequence[Passage]) -> dict[str, list[str]]:
    return {p.best.sentence_id: [hit.sentence_id for hit in p.sentences] for p in passages}


def test_a_neighbour_without_a_word_is_no_sentence_of_a_passage(searcher_of_passages: Searcher) -> None:
    assert shown(find_listed(searcher_of_passages, "flood night", Filters(documents=("a",)))) == {
        "a.s0": ["a.s0"],
        "a.s2": ["a.s2"],
    }
    assert len(find_listed(searcher_of_passages, "flood night", Filters(documents=("a",)), joins=False)) == 5


def test_a_sentence_that_only_its_document_lifts_is_not_listed(searcher_of_passages: Searcher) -> None:
    listed = shown(find_listed(searcher_of_passages, "flood river"))
    assert "c.s4" not in listed and "a.s4" not in listed
    assert {"c.s0", "c.s2", "b.s0", "b.s2"} <= {id for ids in listed.values() for id in ids}


def test_a_list_without_any_word_of_the_query_stays(searcher_of_passages: Searcher) -> None:
    listed = find_listed(searcher_of_passages, "night", Filters(documents=("b",)))
    assert {passage.reason for passage in listed} == {"none of the words; in the headline"}
    assert {
        passage.reason for passage in find_listed(searcher_of_passages, "night", Filters(documents=("a",)))
    } == {None}


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
    if not CORPUS.is_file():
        pytest.skip(f"{CORPUS.name} is not there: it would be in {CORPUS.parent.name} in shared/collections")
    best: dict[str, int] = defaultdict(int)
    for grades in read_grades().values():
        for sentence, grade in grades.items():
            best[sentence] = max(best[sentence], grade)
    judged = {sentence.rpartition(".")[0] for sentence in best}
    lowered: dict[str, str] = {}
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
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
    if not CORPUS.is_file():
        pytest.skip(f"{CORPUS.name} is not there: it would be in {CORPUS.parent.name} in shared/collections")
    main(["load", str(CORPUS), "--index", str(tmp_path / "news")], standalone_mode=False)
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
