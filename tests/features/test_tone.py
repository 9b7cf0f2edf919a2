"""What the classifier says of sentences in languages without rules, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from esr.cli.main import main
from esr.encoders import KNOWN
from esr.encoders.encoder_folder import is_here
from esr.enrichment import enricher
from esr.enrichment.enricher import Enricher, SentenceVectors, VectorSettings
from esr.enrichment.recipe import Recipe
from esr.features import tone
from esr.features.subjectivity import THRESHOLD
from esr.features.tone import Tone, find_tones, read_classifier
from esr.text.document import Document, Sentence
from tests.support.fake_enricher import write_tiny_encoder

SUBJECTIVE = {
    "de": "Was für eine wunderbare, völlig unerwartete Freude!",
    "fr": "C'est une honte absolue et je suis furieux !",
    "es": "¡Qué maravilla, me encanta esta ciudad!",
    "ar": "يا له من عار، هذا أمر فظيع حقا!",
    "zh": "这真是太可怕了,我非常愤怒!",
}
OBJECTIVE = {
    "de": "Das Treffen begann am Dienstag um 9 Uhr in Berlin.",
    "fr": "La réunion a commencé mardi à 9 heures à Paris.",
    "es": "La reunión comenzó el martes a las 9 en Madrid.",
    "ar": "بدأ الاجتماع يوم الثلاثاء في الساعة التاسعة في القاهرة.",
    "zh": "会议于星期二上午九点在北京开始。",
}
POLAR = {"subj", "subj_score", "pos", "neg", "opt"}


def document(language: str, *texts: str) -> Document:
    return Document("d", tuple(Sentence(f"d.s{n}", text) for n, text in enumerate(texts)), language=language)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Enricher]:
    """An enricher whose classifier looks at the first number of the vectors of a tiny encoder."""
    folder = write_tiny_encoder(tmp_path / "tiny", 16)
    weights = [1.0, *[0.0] * 15]
    fields = {"subjectivity": 1.37, "positive": 0.0, "negative": 5.0}
    data = {name: {"bias": bias, "weights": weights} for name, bias in fields.items()}
    file = tmp_path / "tone.json"
    file.write_text(json.dumps({"version": 1, "encoder": str(folder), "languages": ["de"], **data}))
    monkeypatch.setattr(tone, "FILE", file)
    read_classifier.cache_clear()
    monkeypatch.setattr(
        enricher, "open_tones", lambda: SentenceVectors(VectorSettings(str(folder), title_weight=0.0))
    )
    yield Enricher(["features"])
    read_classifier.cache_clear()


def test_tones_are_products_of_vectors_and_weights() -> None:
    data = read_classifier()
    vectors = [np.zeros(512), np.array(data["negative"]["weights"])]
    neutral, negative = find_tones(vectors)
    assert neutral == Tone(*(data[name]["bias"] for name in Tone._fields))
    assert negative.negative == pytest.approx(neutral.negative + sum(w * w for w in vectors[1]))
    assert find_tones([]) == []
    assert KNOWN[data["encoder"]].dimensions == 512 == len(data["positive"]["weights"])


@pytest.mark.slow
def test_features_of_opinion_come_from_the_classifier(tiny: Enricher) -> None:
    (enriched,) = tiny.enrich(document("de", "storm flood"))
    values = enriched.features
    assert values["subj"] == float(values["subj_score"] >= THRESHOLD["score"])
    assert (values["neg"], values["opt"]) == (1.0, values["pos"] + 1.0)
    (other,) = tiny.enrich(document("nl", "storm flood"))
    assert POLAR.isdisjoint(other.features), "only languages with a figure"
    (english,) = tiny.enrich(document("en", "It is a terrible day!"))
    assert english.features["neg"] == 1 == english.features["subj"], "English keeps its rules"


@pytest.mark.slow
def test_only_documents_in_its_languages_depend_on_the_classifier(tiny: Enricher) -> None:
    recipe = tiny.recipe
    without = Recipe(recipe.parts, {k: v for k, v in recipe.versions.items() if k != tone.TONE})
    assert [recipe.agrees(without, "features", language) for language in ("de", "en", "nl")] == [
        False,
        True,
        True,
    ]
    clues = replace(recipe, versions={**recipe.versions, "rule": "clues"})
    assert not recipe.agrees(clues, "features", "de") and recipe.agrees(clues, "features", "nl")


@pytest.mark.slow
def test_the_classifier_tells_outcries_from_reports_in_other_languages() -> None:
    if not is_here(read_classifier()["encoder"]):
        pytest.skip("the encoder is not on this machine: esr encoders --fetch use-multilingual-v3")
    enricher = Enricher(["features"])
    for language in SUBJECTIVE:
        texts = document(language, SUBJECTIVE[language], OBJECTIVE[language])
        outcry, report = (enriched.features for enriched in enricher.enrich(texts))
        assert outcry["subj_score"] > report["subj_score"], language
        assert set(outcry) >= POLAR


def test_the_files_of_an_encoder_are_fetched_by_name(tmp_path: Path) -> None:
    folder = write_tiny_encoder(tmp_path / "tiny", 16)
    result = CliRunner().invoke(main, ["encoders", "--fetch", str(folder)])
    assert result.exit_code == 0 and str(folder) in result.output
    assert CliRunner().invoke(main, ["encoders", "--fetch", "no-such-encoder"]).exit_code != 0
