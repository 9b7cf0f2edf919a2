"""Documents: how fields become one and are written again, their attributes, and their checksum."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text import validate
from esr.text.attributes import MAX_ATTRIBUTE_CHARS, attributes, flat_metadata, is_attribute, metadata_values
from esr.text.document import (
    Document,
    ParseWord,
    Quote,
    Sentence,
    custom_id_positions,
    decode_fields,
    encode_fields,
)
from esr.text.scripts import DIRECTIONS, text_direction
from esr.text.validate import InvalidDocument, build_document, checksum, quote, to_fields, to_json_line

TREE = [{"word": "an", "head": 1}, {"word": "earthquake", "head": 2}, {"word": "hit", "head": -1}]


def sentence(**fields):
    return build_document(
        {"id": "d", "sentences": [{"text": "x"}, {"text": "An earthquake hit.", **fields}]}
    ).sentences[1]


def error_message(fields) -> str:
    with pytest.raises(InvalidDocument) as error:
        build_document(fields)
    return str(error.value)


def sentence_error_message(fields) -> str:
    return error_message({"id": "d", "sentences": [{"text": "x"}, fields]})


def test_a_text_is_split_and_its_sentences_and_paragraphs_are_numbered_from_0():
    text = "One is here. Two is there.\n\nThree."
    assert build_document({"id": "d", "title": "T", "text": text}) == Document(
        id="d",
        title="T",
        sentences=(
            Sentence("d.s0", "One is here.", paragraph=0),
            Sentence("d.s1", "Two is there.", paragraph=0),
            Sentence("d.s2", "Three.", paragraph=1),
        ),
    )


def test_all_metadata_of_a_document_is_stored():
    metadata = {
        "title": "Quake",
        "date": "2017-02-07T10:30:00+01:00",
        "source": "wire",
        "url": "http://x.example/1",
        "language": "en",
    }
    document = build_document({"id": "d", **metadata})
    assert {name: getattr(document, name) for name in metadata} == metadata


def test_sentences_of_the_source_keep_ids_texts_features_and_parses():
    assert sentence(id="mine", features={"subj": 0, "pos_2": 1.5}, parse=TREE) == Sentence(
        "mine",
        "An earthquake hit.",
        {"subj": 0.0, "pos_2": 1.5},
        (ParseWord("an", 1), ParseWord("earthquake", 2), ParseWord("hit", -1)),
    )


def test_sentences_of_the_source_are_neither_split_nor_stripped_and_empty_ones_stay():
    texts = ["", " One. Two.\n\n Three ", "\t"]
    document = build_document({"id": "d", "sentences": [{"text": text} for text in texts]})
    assert [s.text for s in document.sentences] == texts


def test_default_sentence_ids_count_the_position_among_all_sentences():
    document = build_document(
        {"id": "d", "sentences": [{"text": "a"}, {"id": "b", "text": "b"}, {"text": "c"}]}
    )
    assert [s.id for s in document.sentences] == ["d.s0", "b", "d.s2"]


@pytest.mark.parametrize("paragraph", [None, 0, 7, 2**31 - 1])
def test_sentences_of_the_source_keep_their_paragraph(paragraph):
    assert sentence(paragraph=paragraph).paragraph == paragraph
    assert sentence(paragraph=paragraph, features={"subj": 1}).paragraph == paragraph


@pytest.mark.parametrize("paragraph", [-1, 2**31, 1.0, "1", True, [0]])
def test_an_invalid_paragraph_is_rejected(paragraph):
    message = sentence_error_message({"text": "x", "paragraph": paragraph})
    assert "sentences[1].paragraph must be an integer from 0 to 2147483647" in message


def test_null_counts_as_missing():
    nothing = dict.fromkeys(["title", "date", "source", "url", "language", "text", "sentences"])
    assert build_document({"id": "d", **nothing}) == Document("d", ())
    assert sentence(id=None, features=None, parse=None, paragraph=None) == Sentence(
        "d.s1", "An earthquake hit."
    )


@pytest.mark.parametrize("name", ["title", "date", "source", "url", "language"])
def test_a_blank_field_is_none(name):
    assert getattr(build_document({"id": "d", name: " \n"}), name) is None


def test_blanks_around_an_address_are_left_out():
    assert build_document({"id": "d", "url": " http://x.example/1\n"}).url == "http://x.example/1"


@pytest.mark.parametrize("fields", [{}, {"text": ""}, {"text": " \n\n"}, {"sentences": []}])
def test_a_document_may_have_no_sentence(fields):
    assert build_document({"id": "d", **fields}).sentences == ()


@pytest.mark.parametrize(
    ("declared", "language"),
    [
        *[("pt_BR", "pt-BR"), (" en\n", "en"), ("zh_Hant_TW", "zh-Hant-TW"), ("de-AT", "de-AT")],
        *[("eng", "en"), ("ENG-us", "en-us"), ("ger", "de"), ("deu_AT", "de-AT"), ("English", "en")],
        *[("yue", "yue"), ("und", "und"), ("Klingon", "Klingon"), ("nob", "nb"), ("GB", "GB")],
    ],
)
def test_the_tag_of_a_language_is_stored_as_filters_compare_it(declared, language):
    assert build_document({"id": "d", "language": declared}).language == language


def test_unknown_fields_are_ignored():
    assert build_document({"id": "d", "genre": {"any": [1]}, "topics": None}) == Document("d", ())
    assert sentence(start=3) == Sentence("d.s1", "An earthquake hit.")


def test_a_date_is_normalised():
    assert build_document({"id": "d", "date": "  2016-12-30 7:11"}).date == "2016-12-30T07:11"


def test_a_parse_may_have_several_roots_or_no_word():
    heads = [-1, 0, -1, 2]
    assert [w.head for w in sentence(parse=[{"word": "w", "head": h} for h in heads]).parse] == heads
    assert sentence(parse=[]).parse == ()


@pytest.mark.parametrize("id", ["a", "NA-1", "2017/02/a_b.c:3", "新闻-1", "x" * 512, "é" * 256, "<b>&"])
def test_ids_without_whitespace_are_valid(id):
    assert build_document({"id": id, "sentences": [{"id": id, "text": ""}]}).id == id


@pytest.mark.parametrize(
    ("id", "problem"),
    [
        (None, "no id"),
        ("", "id is empty"),
        (7, "id must be a string, not a number"),
        (True, "id must be a string, not true or false"),
        (["a"], "id must be a string, not a list"),
        ("a b", "id 'a b' contains ' '"),
        ("a\tb", "whitespace"),
        ("a\u00a0b", "whitespace"),
        ("a\u2028b", "whitespace"),
        ("a\x00b", "control character"),
        ("a\x85b", "control character"),
        ("x" * 513, "longer than 512 bytes"),
        ("é" * 257, "longer than 512 bytes"),
        ("a\ud800", "lone surrogate"),
    ],
)
def test_an_invalid_id_is_rejected(id, problem):
    assert problem in error_message({"id": id})
    if id is not None:
        assert problem in sentence_error_message({"id": id, "text": ""})


def test_a_missing_id_is_rejected():
    assert "no id" in error_message({"text": "x"})


def test_a_document_id_must_leave_room_for_default_sentence_ids():
    fields = {"id": "é" * 255, "sentences": [{"text": "x"}]}
    assert "is too long for default sentence ids" in error_message(fields)
    assert build_document({**fields, "sentences": [{"id": "s", "text": "x"}]}).sentences[0].id == "s"
    assert len(build_document({"id": "x" * 509, "text": "One."}).sentences[0].id) == 512


def test_an_explicit_id_has_the_same_limit_when_it_equals_the_default_one():
    fields = {"id": "x" * 510, "sentences": [{"id": "x" * 510 + ".s0", "text": "x"}]}
    assert "longer than 512 bytes" in error_message(fields)


def test_duplicate_sentence_ids_are_rejected():
    same = [{"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"id": "a", "text": "y"}]
    assert "sentence id 'a' is duplicated in the document" in error_message({"id": "d", "sentences": same})
    same = [{"id": "d.s1", "text": "x"}, {"text": "y"}]
    assert "sentence id 'd.s1' is duplicated" in error_message({"id": "d", "sentences": same})


def test_quotations_are_read_as_they_are_written():
    quotes = [{"start": 0, "end": 2, "speaker": "Ann Lee", "name": "ann lee"}, {"start": 3, "end": 13}]
    assert sentence(quotes=quotes).quotes == (Quote(0, 2, "Ann Lee", "ann lee"), Quote(3, 13))
    fields = {"id": "a", "sentences": [{"text": "An earthquake hit.", "quotes": quotes}]}
    assert to_fields(build_document(fields)) == fields


def test_the_places_of_quotations_are_those_of_the_text_before_accents_are_composed():
    text, places = "Le cafe\u0301 «\u00e9te\u0301» ici.", [{"start": 9, "end": 15}, {"start": 3, "end": 8}]
    fields = {"id": "a", "sentences": [{"text": text, "quotes": places}]}
    (built,) = build_document(fields).sentences
    assert [built.text[quote.start : quote.end] for quote in built.quotes] == ["«été»", "café"]
    fields["sentences"][0]["quotes"] = [{"start": 7, "end": len(text) + 1}]
    assert "a later end within the 20 characters" in error_message(fields)


@pytest.mark.parametrize(
    ("quotes", "problem"),
    [
        ({}, "quotes must be a list, not an object"),
        ([3], "quotes[0] must be an object"),
        ([{"start": 0}], "must have a start and a later end within the 18 characters of the text"),
        ([{"start": 3, "end": 3}], "a later end"),
        ([{"start": 0, "end": 19}], "a later end"),
        ([{"start": True, "end": 2}], "a later end"),
        (
            [{"start": 0, "end": 2, "certainty": "sure"}],
            "quotes[0].certainty must be 'certain' or",
        ),
        ([{"start": 0, "end": 2, "speaker": 4}], "quotes[0].speaker must be a string, not a number"),
    ],
)
def test_an_invalid_quotation_is_rejected(quotes, problem):
    with pytest.raises(InvalidDocument, match=re.escape(problem)):
        sentence(quotes=quotes)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"text": 3}, "text must be a string, not a number"),
        ({"text": ["a"]}, "text must be a string, not a list"),
        ({"text": "a", "sentences": []}, "both text and sentences"),
        ({"sentences": "a"}, "sentences must be a list, not a string"),
        ({"sentences": {"text": "a"}}, "sentences must be a list, not an object"),
        ({"sentences": ["a"]}, "sentences[0] must be an object"),
        ({"sentences": [{}]}, "sentences[0] has no text"),
        ({"sentences": [{"text": None}]}, "sentences[0] has no text"),
        ({"sentences": [{"text": 1}]}, "sentences[0].text must be a string"),
        ({"title": 1}, "title must be a string, not a number"),
        ({"source": ["wire"]}, "source must be a string, not a list"),
        ({"url": {}}, "url must be a string, not an object"),
        ({"language": False}, "language must be a string, not true or false"),
        ({"date": 2017}, "date must be a string, not a number"),
        ({"date": "yesterday"}, "date 'yesterday' is not an ISO 8601 date"),
        ({"date": "2017-02-30"}, "is not an ISO 8601 date"),
        ({"title": "a\udc00b"}, "title contains '\\udc00', half a character"),
        ({"text": "a\ud800"}, "lone surrogate"),
        ({"sentences": [{"text": "\ud800"}]}, "sentences[0].text contains"),
    ],
)
def test_an_invalid_field_is_named_with_what_it_must_be(fields, problem):
    assert problem in error_message({"id": "d", **fields})


@pytest.mark.parametrize(
    ("features", "problem"),
    [
        ([1], "sentences[1].features must be an object"),
        ({"a": "1"}, "sentences[1].features.a must be a number, not a string"),
        ({"a": True}, "features.a must be a number, not true or false"),
        ({"a": None}, "features.a must be a number, not null"),
        ({"a": math.nan}, "must be a finite number"),
        ({"a": math.inf}, "must be a finite number"),
        ({"a": 10**400}, "must be a finite number"),
        *(
            ({name: 1}, "a feature's name must be")
            for name in ("", "1a", "a b", "a.b", "_a", "é", "a\n", "\ud800")
        ),
    ],
)
def test_invalid_features_are_rejected(features, problem):
    assert problem in sentence_error_message({"text": "x", "features": features})


@pytest.mark.parametrize(
    ("parse", "problem"),
    [
        ({}, "sentences[1].parse must be a list, not an object"),
        (["w"], "sentences[1].parse[0] must be an object"),
        ([{"head": -1}], "parse[0].word must be a string, not null"),
        ([{"word": "w"}], "parse[0].head must be an integer"),
        ([{"word": "w", "head": "0"}], "parse[0].head must be an integer"),
        ([{"word": "w", "head": True}], "parse[0].head must be an integer"),
        ([{"word": "w", "head": -1.0}], "parse[0].head must be an integer"),
        ([{"word": "w", "head": 1}], "parse[0].head is 1: it must be from 0 to 0"),
        ([{"word": "w", "head": -2}], "parse[0].head is -2"),
        ([{"word": "w", "head": 0}], "form a cycle"),
        ([{"word": "\ud800", "head": -1}], "parse[0].word contains"),
    ],
)
def test_an_invalid_parse_is_rejected(parse, problem):
    assert problem in sentence_error_message({"text": "x", "parse": parse})


@given(st.lists(st.integers(-1, 11), max_size=12))
def test_a_parse_is_rejected_exactly_if_some_word_never_leads_to_a_root(heads):
    parse = [{"word": "w", "head": head} for head in heads]

    def leads_to_root(word: int) -> bool:
        for _ in heads:
            word = heads[word]
            if not 0 <= word < len(heads):
                return word == -1
        return False

    if all(map(leads_to_root, range(len(heads)))):
        assert [w.head for w in sentence(parse=parse).parse] == heads
    else:
        sentence_error_message({"text": "x", "parse": parse})


def test_a_long_chain_of_heads_is_checked_quickly():
    parse = [{"word": "w", "head": position - 1} for position in range(50_000)]
    assert len(sentence(parse=parse).parse) == 50_000


def test_positions_of_sentences_with_ids_of_their_own_are_found():
    sentences = (Sentence("a.s0", "x"), Sentence("a.1", "x"), Sentence("a.s1", "x"), Sentence("a.s3", "x"))
    assert custom_id_positions(Document("a", sentences)) == [1, 2]


def test_a_message_says_how_short_an_id_must_be_for_sentences_to_have_ids():
    message = error_message({"id": "a" * 512, "text": "One."})
    length = int(re.search(r"shorten it to (\d+) bytes", message)[1])
    assert build_document({"id": "a" * length, "text": "One."}).sentences[0].id == "a" * length + ".s0"


def test_messages_shorten_long_values():
    assert len(error_message({"id": "a " * 5000})) < 300
    assert quote("a" * 60) == repr("a" * 60)
    assert quote("a" * 61) == repr("a" * 59 + "…")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "id",
    "title",
    "date",
    "source",
    "url",
    "language",
    "text",
    "sentences",
    "features",
    "parse",
    "word",
]


def objects(values):
    return st.dictionaries(st.sampled_from([*FIELDS, "head"]), values, max_size=5)


@given(objects(ANY | st.lists(objects(ANY | st.lists(objects(ANY), max_size=3)), max_size=3)), st.booleans())
def test_any_fields_make_a_document_or_are_invalid(fields, with_id):
    try:
        document = build_document({**fields, "id": "d"} if with_id else fields)
    except InvalidDocument as error:
        assert "\n" not in str(error) and str(error).isprintable()
    else:
        assert isinstance(document, Document)


def test_attributes_are_named_as_in_the_query_language():
    document = Document(
        "a", (), authors=("Jane Doe",), section="Sport", keywords=("x", "y"), metadata={"desk": "Berlin"}
    )
    assert attributes(document) == {
        "author": ("Jane Doe",),
        "section": ("Sport",),
        "keyword": ("x", "y"),
        "meta.desk": ("Berlin",),
    }
    assert all(map(is_attribute, attributes(document)))
    assert not any(map(is_attribute, ("meta", "meta.", "source", "Author")))


def test_keys_of_objects_are_joined_and_values_are_different_texts():
    metadata = {"a": {"b": [1, 2.5, True, None, " x\n y ", "x y", {"c": "z"}]}, "d": []}
    assert flat_metadata(metadata) == {"a.b": ("1", "2.5", "true", "x y"), "a.b.c": ("z",)}


def test_a_value_under_keys_that_differ_in_case_is_there_once():
    metadata = {"Desk": "Bonn", "desk": ["bonn", "Berlin"]}
    assert metadata_values(metadata) == {"Desk": ("Bonn",), "desk": ("Berlin",)}


def test_what_is_too_long_or_has_no_key_is_no_attribute():
    longest = "x" * MAX_ATTRIBUTE_CHARS
    metadata = {
        "a": longest,
        "b": longest + "x",
        "c": "\U0001f600" * 501,
        longest + "y": "v",
        "": "v",
        "d\0": "v",
    }
    document = Document("a", (), section=longest + "x", metadata=metadata)
    assert attributes(document) == {"meta.a": (longest,), "meta.d": ("v",)}


@pytest.mark.parametrize(
    ("language", "direction"),
    [
        *[(code, "rtl") for code in ("ar", "fa", "he", "ur", "yi", "ckb", "AR", "ar-EG", "ara", "dv")],
        *[(code, "ltr") for code in ("en", "de", "zh", "hi", "th", "ru", "zh-Hant-TW", "arn")],
        ("az-Arab", "rtl"),
        ("pa-Arab-PK", "rtl"),
        ("ur-Latn", "ltr"),
        ("he-latn-IL", "ltr"),
        *[(unknown, "auto") for unknown in (None, "", "und", "Arabic language", "a", '"ar"')],
    ],
)
def test_the_direction_goes_by_script_and_language(language: str | None, direction: str) -> None:
    assert text_direction(language) == direction
    assert direction in DIRECTIONS


FULL = {
    "id": "a",
    "title": "T",
    "date": "2024-03-05",
    "source": "Wire",
    "url": "https://x.example",
    "language": "en",
    "authors": ["Jane Doe", "Olaf Größe"],
    "section": "Sport",
    "keywords": ["x", "y"],
    "metadata": {"desk": {"city": "Berlin"}, "n": [1, 2.5, None, True]},
    "sentences": [{"text": "One."}],
}


def test_all_fields_are_written_as_they_are_read():
    document = build_document(FULL)
    assert to_fields(document) == FULL
    assert build_document(json.loads(json.dumps(to_fields(document)))) == document
    fields = encode_fields(document)
    assert decode_fields(fields) == {name: getattr(document, name) for name in fields}


def test_a_field_without_a_value_is_not_written():
    blank = {"id": "a", "title": " ", "authors": [" "], "section": "", "keywords": [], "metadata": {}}
    assert to_fields(build_document(blank)) == {"id": "a", "sentences": []}


def test_each_field_is_part_of_the_checksum():
    checksums = {
        checksum(build_document({k: v for k, v in FULL.items() if k != name}))
        for name in FULL
        if name != "id"
    }
    assert len({*checksums, checksum(build_document(FULL))}) == len(FULL)


def test_lists_have_different_lines_and_may_be_one_text():
    document = build_document(
        {"id": "a", "authors": "Jane  Doe", "keywords": ["x\ny", "x y", " ", "e\u0301"]}
    )
    assert document.authors == ("Jane Doe",)
    assert document.keywords == ("x y", "\u00e9")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("authors", 5, "authors must be a list, not a number"),
        ("keywords", ["x", 5], r"keywords\[1\] must be a string, not a number"),
        ("section", ["x"], "section must be a string, not a list"),
        ("metadata", "x", 'metadata must be an object like {"desk": "Berlin"}, not a string'),
        ("metadata", {"a": "\ud800"}, "metadata.a contains .* half a character"),
        ("metadata", {"a\0b": "\ud800"}, r"metadata\.a\?b contains .* half a character"),
        ("metadata", {"\ud800": 1}, "a key of metadata contains .* half a character"),
        ("metadata", {"a": [float("inf")]}, "metadata.a must be a finite number"),
        ("metadata", {"a": 10**5000}, "metadata.a must be a finite number"),
    ],
)
def test_an_invalid_field_is_named(field, value, problem):
    with pytest.raises(InvalidDocument, match=problem):
        build_document({"id": "a", field: value})


def test_metadata_may_not_be_nested_without_end():
    value = []
    for _ in range(48):
        value = [value]
    build_document({"id": "a", "metadata": {"a": [value]}})
    with pytest.raises(InvalidDocument, match="nested more than 50 deep"):
        build_document({"id": "a", "metadata": {"a": [[value]]}})


def test_a_document_is_written_as_a_line_with_its_letters():
    line = to_json_line(build_document({"id": "a", "title": "Köln", "sentences": [{"text": "Ja."}]}))
    assert line == '{"id":"a","title":"Köln","sentences":[{"text":"Ja."}]}'


@pytest.mark.parametrize("fields", [{"text": "One. Two. Three."}, {"sentences": [{"text": "One."}] * 3}])
def test_a_document_of_too_many_sentences_is_refused(fields, monkeypatch):
    monkeypatch.setattr(validate, "MAX_SENTENCES", 2)
    message = error_message({"id": "d", **fields})
    assert "3 sentences" in message and "at most 2" in message
