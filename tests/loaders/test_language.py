import pytest

from esr.loaders.language import LanguageDetector
from esr.text.validate import InvalidDocument, build_document

TEXTS = {
    "en": "The ferry across the fjord sails again after repairs of two weeks, its owner said on Monday.",
    "de": "Die Fähre über den Fjord fährt nach zwei Wochen wieder, sagte der Besitzer am Montag der Zeitung.",
    "fr": "Le bac du fjord repart après deux semaines de réparations, a dit lundi son maître.",
    "ru": "Паром через фьорд снова ходит после двух недель ремонта, сообщил в понедельник его владелец.",
}


def detect(text: str, declared: str | None = None, field: str = "text") -> tuple[str | None, int]:
    detector = LanguageDetector()
    value = text if field == "text" else [{"text": word} for word in text.split()]
    document = detector.build_document({"id": "a", field: value, "language": declared})
    return document.language, detector.detected


@pytest.mark.parametrize("field", ["text", "sentences"])
@pytest.mark.parametrize("declared", [None, "", " "])
@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_document_without_one_is_detected(language, declared, field):
    assert detect(TEXTS[language], declared, field) == (language, 1)


def test_an_existing_language_stays():
    assert detect(TEXTS["de"], "en-GB") == ("en-GB", 0)


@pytest.mark.parametrize(
    "text", ["", "Ja.", "フェリーが再び運航", "1 2 3 4 5 6 7 8 9 0 " * 10, "Bergen Oslo"]
)
def test_short_texts_and_numbers_get_no_language(text):
    assert detect(text) == (None, 0)


@pytest.mark.parametrize("declared", [None, "de"])
def test_the_text_is_split_by_the_rules_of_the_language_that_it_gets(declared):
    text = (
        "Die Fähre über den Fjord fährt am 7. Juli wieder, sagte der Besitzer bzw. Betreiber. Er freut sich."
    )
    document = LanguageDetector().build_document({"id": "a", "text": text, "language": declared})
    assert [sentence.text for sentence in document.sentences] == [text[:-15], "Er freut sich."]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": 5},
        {"sentences": "x"},
        {"sentences": [5, {"text": None}]},
        {"text": "\ud800" * 100},
        {"language": 5},
    ],
)
def test_invalid_fields_are_refused_as_without_detection(fields):
    detector = LanguageDetector()
    with pytest.raises(InvalidDocument) as expected:
        build_document({"id": "a", **fields})
    with pytest.raises(InvalidDocument) as refused:
        detector.build_document({"id": "a", **fields})
    assert str(refused.value) == str(expected.value)
    assert detector.detected == 0


def test_an_invalid_document_is_not_counted():
    detector = LanguageDetector()
    with pytest.raises(InvalidDocument, match="date"):
        detector.build_document({"id": "a", "text": TEXTS["de"], "date": "soon"})
    assert detector.detected == 0
