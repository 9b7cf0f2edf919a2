"""Words typed without accents find what is written with them, and the other way round, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.following.repeats import analyze_hits
from esr.query import in_language, parse
from esr.ranking.accents import find_readings
from esr.ranking.answers import find_wordless, select_answering
from esr.ranking.query_report import report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.spelling import suggest
from tests.support.elasticsearch import document, load
from tests.support.index_contents import ENGINES, open_loaded

TEXTS = {
    "ca": "El govern va comentar l'elecció de la població.",
    "cs": "Ředitel školy mluvil o příštím týdnu.",
    "da": "København fik en ny borgmester på Fyn.",
    "de": "München und Köln grüßen die größten Städte.",
    "el": "Οι εκλογές έγιναν χθες στην Αθήνα.",
    "fa": "علی گفت که کتاب‌های او در ایران است.",
    "fi": "Hyvää päivää sanoi pääministeri Mäkelä.",
    "fr": "La société située à Orléans est fermée après la grève.",
    "ar": "قرر مجلس الأمن إرسال بعثة إلى أوروبا.",
    "he": "ראש הממשלה בא לִירוּשָׁלַיִם וצה״ל הודיע.",
    "hu": "A háború után épült városokért harcoltak.",
    "it": "La città perché la felicità finirà.",
    "lt": "Rinkėjų balsavimas vyko mokyklose.",
    "no": "Tromsø er en by i Nord-Norge på kysten.",
    "pl": "Łódź świętowała zwycięstwo drużyny.",
    "pt": "A eleição e a inflação preocupam a população e os cidadãos do país, pela remuneração.",
    "ro": "Populația privește secundară creșterea economică.",
    "sv": "Göteborg och Gävle växer snabbt.",
    "tr": "Doğu sınırında yapılan görüşmeler önce başladı.",
    "vi": "Thủ tướng thăm Hà Nội và Đà Nẵng.",
}
SPANISH = [
    document(
        "a", "La sequía vacía los embalses.", "Otra Sequía en España.", "El año terminó.", language="es"
    ),
    document("b", "La sequía sigue.", "Una elección difícil. La policía no vino.", language="es"),
    document("c", "Las casas vacias sin agua.", "En la revista, sequia sin acento.", language="es"),
    document("d", "La sequía cede, y el informe sobre la sequía salió.", language="es"),
    document("e", "Escribieron mayoria y nada.", "El agua también falta.", language="es"),
]


@pytest.fixture(scope="module", params=ENGINES)
def mixed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index by language, with a document for each language and those in Spanish."""
    news = [*SPANISH, *(document(code, text, language=code) for code, text in TEXTS.items())]
    with open_loaded(request, tmp_path_factory.mktemp("accents"), news, analyzer="by-language") as opened:
        yield opened


@pytest.fixture(scope="module", params=ENGINES)
def spanish(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with open_loaded(request, tmp_path_factory.mktemp("spanish"), SPANISH, analyzer="spanish") as opened:
        yield opened


def find(searcher: Searcher, query: str, language: str | None = None, **options: bool) -> list[str]:
    hits = searcher.search(in_language(parse(query), language), 20, candidates="matching", **options).hits
    return [hit.sentence_id for hit in hits]


@pytest.mark.parametrize(
    ("language", "queries"),
    [
        ("ca", ["eleccio", "poblacio"]),
        ("cs", ["reditel", "skoly", "pristim tydnu"]),
        ("da", ["kobenhavn", "koebenhavn", "København"]),
        ("de", ["Munchen", "Muenchen", "grossten", "Koeln"]),
        ("el", ["εκλογες", "αθηνα"]),
        ("fa", ["علي", "كتاب‌های"]),
        ("fi", ["hyvaa", "paivaa", "paaministeri", "Makela"]),
        ("fr", ["societe", "situee", "fermee", "greve", "orleans", "SOCIÉTÉ"]),
        ("ar", ["الامن", "ارسال", "اوروبا"]),
        ("he", ["לירושלים", "הַמֶּמְשָׁלָה", 'וצה"ל', "וצהל"]),
        ("hu", ["haboru", "epult", "varosokert"]),
        ("it", ["citta", "felicita", "finira"]),
        ("lt", ["rinkeju"]),
        ("no", ["tromso", "tromsoe"]),
        ("pl", ["lodz", "swietowala", "zwyciestwo", "druzyny"]),
        ("pt", ["eleicao", "inflacao", "populacao", "remuneracao", "cidadaos", "pais"]),
        ("ro", ["populatia", "priveste", "secundara", "cresterea"]),
        ("sv", ["goteborg", "gavle", "vaxer"]),
        ("tr", ["dogu", "sinirinda", "gorusmeler", "basladi"]),
        ("vi", ["thu tuong", "da nang", "ha noi"]),
    ],
)
def test_words_typed_without_accents_find_what_is_written_with_them(
    mixed: Searcher, language: str, queries: list[str]
) -> None:
    assert [query for query in queries if find(mixed, query, language) != [f"{language}.s0"]] == []


def test_the_language_of_a_word_without_accents_is_the_one_that_writes_it_with_them(mixed: Searcher) -> None:
    for query, language in {"sequia": "es", "eleicao": "pt", "goteborg": "sv", "gorusmeler": "tr"}.items():
        assert report_reading(mixed.prepare(query, Ranking())).language == language, query


def test_exact_forms_rank_first_and_each_sentence_is_scored_by_the_form_it_has(spanish: Searcher) -> None:
    written = ["a.s0", "a.s1", "b.s0", "d.s0"]
    for query in ("sequia", "SEQUIA", '"sequia"', "+sequia"):
        first, *others = find(spanish, query)
        assert first == "c.s1" and sorted(others) == written, query
    assert sorted(find(spanish, "séquia")) == sorted(["c.s1", *written])
    assert sorted(find(spanish, "sequia", require_all=True)) == sorted(["c.s1", *written])
    assert sorted(find(spanish, "embalses sequia", require_all=True)) == ["a.s0"]
    assert find(spanish, "casas -sequia") == ["c.s0"]


def test_a_word_typed_with_accents_is_as_it_was_unless_no_sentence_writes_it_so(spanish: Searcher) -> None:
    for query, term in {
        "sequía": "sequ",
        "mayoría": "mayori",
        "policía": "polic",
        "policia": "polic",
    }.items():
        assert list(spanish.interpret(query).counts) == [term], query
    assert find(spanish, "mayoría") == ["e.s0"]


def test_a_stop_word_is_none_without_its_accent_either(spanish: Searcher) -> None:
    assert list(spanish.interpret("tambien casas").counts) == list(spanish.interpret("también casas").counts)


def test_a_word_with_several_terms_is_one_word(spanish: Searcher) -> None:
    interpretation = spanish.interpret("sequia embalses")
    assert len(interpretation.counts) == 3
    assert [len(word) for word in interpretation.words] == [2, 1]


def test_a_word_with_several_terms_is_one_of_those_that_neighbours_must_have(spanish: Searcher) -> None:
    prepared = spanish.prepare("sequia embalses", Ranking(candidates="context"))
    hits = prepared.search(20).hits
    wordless = find_wordless(prepared, hits, analyze_hits(hits, prepared.index))
    answers = select_answering(prepared, hits, wordless)
    listed = {hit.sentence_id for hit, is_answer in zip(hits, answers, strict=True) if is_answer}
    assert "b.s1" in wordless & listed, "one of the two words is in the sentence before it"


def test_words_whose_form_is_found_get_no_suggestion(spanish: Searcher) -> None:
    for query in ("sequia", "policia", '"sequia"', "séquia", "eleccion", "sequía"):
        assert suggest(spanish.prepare(query, Ranking())) == (), query


def test_forms_that_are_equally_frequent_are_in_the_order_of_the_sentence(tmp_path: Path) -> None:
    """Not in that of a set, which differs from process to process."""
    text = "Cantara e cantára; comia, comía; secretaria, secretária, secretaría."
    load(str(tmp_path / "index"), [document("a", text, language="pt")], analyzer="portuguese")
    with open_searcher(str(tmp_path / "index")) as opened:
        readings = find_readings(opened.index.snapshot(), ["cantarà comiã secretarià"])
    assert readings == {
        "cantara": ("cant", "cantar"),
        "comia": ("com", "comi"),
        "secretaria": ("secret", "secretar", "secretari"),
    }


def test_a_form_that_no_sentence_has_is_no_other_word(spanish: Searcher, tmp_path: Path) -> None:
    assert list(spanish.interpret("sequias").counts) == ["sequi"], "as of sequia, which a sentence has"
    load(str(tmp_path / "index"), [document("a", "Il est lié.")], analyzer="french")
    with open_searcher(str(tmp_path / "index")) as searcher:
        assert list(searcher.interpret("liees").counts) == ["lie"], "two letters are no sign of a word"
