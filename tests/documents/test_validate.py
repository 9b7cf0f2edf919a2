import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.documents import Document, ParseWord, Sentence
from esr.documents.validate import Invalid, document

TREE = [{"word": "an", "head": 1}, {"word": "earthquake", "head": 2}, {"word": "hit", "head": -1}]


def sentence(**fields):
    return document(
        {"id": "d", "sentences": [{"text": "x"}, {"text": "An earthquake hit.", **fields}]}
    ).sentences[1]


def refused(fields) -> str:
    with pytest.raises(Invalid) as error:
        document(fields)
    return str(error.value)


def refused_sentence(fields) -> str:
    return refused({"id": "d", "sentences": [{"text": "x"}, fields]})


def test_a_text_is_split_and_its_sentences_are_numbered_from_0():
    assert document({"id": "d", "title": "T", "text": "One is here. Two is there."}) == Document(
        id="d",
        title="T",
        sentences=(Sentence("d.s0", "One is here."), Sentence("d.s1", "Two is there.")),
    )


def test_all_that_is_known_of_a_document_is_kept():
    known = {
        "title": "Quake",
        "date": "2017-02-07T10:30:00+01:00",
        "source": "wire",
        "url": "http://x.example/1",
        "language": "en",
    }
    made = document({"id": "d", **known})
    assert {name: getattr(made, name) for name in known} == known


def test_given_sentences_keep_ids_texts_features_and_parses():
    made = sentence(id="mine", features={"subj": 0, "pos_2": 1.5}, parse=TREE)
    assert made == Sentence(
        "mine",
        "An earthquake hit.",
        {"subj": 0.0, "pos_2": 1.5},
        (ParseWord("an", 1), ParseWord("earthquake", 2), ParseWord("hit", -1)),
    )


def test_given_sentences_are_not_split_or_stripped_and_empty_ones_are_kept():
    texts = ["", " One. Two.\n\n Three ", "\t"]
    made = document({"id": "d", "sentences": [{"text": text} for text in texts]})
    assert [s.text for s in made.sentences] == texts


def test_missing_sentence_ids_count_the_position_among_all_sentences():
    made = document({"id": "d", "sentences": [{"text": "a"}, {"id": "b", "text": "b"}, {"text": "c"}]})
    assert [s.id for s in made.sentences] == ["d.s0", "b", "d.s2"]


def test_null_is_as_good_as_missing():
    nothing = dict.fromkeys(["title", "date", "source", "url", "language", "text", "sentences"])
    assert document({"id": "d", **nothing}) == Document("d", ())
    assert sentence(id=None, features=None, parse=None) == Sentence("d.s1", "An earthquake hit.")


@pytest.mark.parametrize("name", ["title", "date", "source", "url", "language"])
def test_a_blank_field_is_not_known(name):
    assert getattr(document({"id": "d", name: " \n"}), name) is None


@pytest.mark.parametrize("fields", [{}, {"text": ""}, {"text": " \n\n"}, {"sentences": []}])
def test_a_document_may_have_no_sentence(fields):
    assert document({"id": "d", **fields}).sentences == ()


def test_unknown_fields_are_passed_over():
    assert document({"id": "d", "genre": {"any": [1]}, "topics": None}) == Document("d", ())
    assert sentence(start=3) == Sentence("d.s1", "An earthquake hit.")


def test_an_untidy_date_is_kept_tidy():
    assert document({"id": "d", "date": "  2016-12-30 7:11"}).date == "2016-12-30T07:11"


def test_a_parse_may_have_several_roots_or_no_word():
    heads = [-1, 0, -1, 2]
    assert [w.head for w in sentence(parse=[{"word": "w", "head": h} for h in heads]).parse] == heads
    assert sentence(parse=[]).parse == ()


@pytest.mark.parametrize("id", ["a", "NA-1", "2017/02/a_b.c:3", "新闻-1", "x" * 512, "é" * 256, "<b>&"])
def test_ids_of_one_word_are_taken(id):
    assert document({"id": id, "sentences": [{"id": id, "text": ""}]}).id == id


@pytest.mark.parametrize(
    ("id", "problem"),
    [
        (None, "no id"),
        ("", "id is empty"),
        (7, "id must be a string, not a number"),
        (True, "id must be a string, not true or false"),
        (["a"], "id must be a string, not a list"),
        ("a b", "id 'a b' has ' ' in it"),
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
def test_an_id_that_cannot_be_used_is_refused(id, problem):
    assert problem in refused({"id": id})
    if id is not None:
        assert problem in refused_sentence({"id": id, "text": ""})


def test_a_missing_id_is_refused():
    assert "no id" in refused({"text": "x"})


def test_a_document_id_must_leave_room_for_the_ids_of_its_sentences():
    fields = {"id": "é" * 255, "sentences": [{"text": "x"}]}
    assert "leaves no room for its sentences' ids" in refused(fields)
    assert document({**fields, "sentences": [{"id": "s", "text": "x"}]}).sentences[0].id == "s"
    assert len(document({"id": "x" * 509, "text": "One."}).sentences[0].id) == 512


def test_an_id_that_is_given_may_be_no_longer_for_being_the_default_one():
    fields = {"id": "x" * 510, "sentences": [{"id": "x" * 510 + ".s0", "text": "x"}]}
    assert "longer than 512 bytes" in refused(fields)


def test_two_sentences_of_one_id_are_refused():
    same = [{"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"id": "a", "text": "y"}]
    assert "two sentences of the document have the id 'a'" in refused({"id": "d", "sentences": same})
    assert "'d.s1'" in refused({"id": "d", "sentences": [{"id": "d.s1", "text": "x"}, {"text": "y"}]})


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
        ({"title": "a\udc00b"}, "title has '\\udc00' in it, half a character"),
        ({"text": "a\ud800"}, "lone surrogate"),
        ({"sentences": [{"text": "\ud800"}]}, "sentences[0].text has"),
    ],
)
def test_a_wrong_field_is_named_with_what_it_must_be(fields, problem):
    assert problem in refused({"id": "d", **fields})


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
def test_wrong_features_are_refused(features, problem):
    assert problem in refused_sentence({"text": "x", "features": features})


@pytest.mark.parametrize(
    ("parse", "problem"),
    [
        ({}, "sentences[1].parse must be a list, not an object"),
        (["w"], "sentences[1].parse[0] must be an object"),
        ([{"head": -1}], "parse[0].word must be a string, not null"),
        ([{"word": "w"}], "parse[0].head must be a whole number"),
        ([{"word": "w", "head": "0"}], "parse[0].head must be a whole number"),
        ([{"word": "w", "head": True}], "parse[0].head must be a whole number"),
        ([{"word": "w", "head": -1.0}], "parse[0].head must be a whole number"),
        ([{"word": "w", "head": 1}], "parse[0].head is 1: it must be from 0 to 0"),
        ([{"word": "w", "head": -2}], "parse[0].head is -2"),
        ([{"word": "w", "head": 0}], "go round in a circle"),
        ([{"word": "\ud800", "head": -1}], "parse[0].word has"),
    ],
)
def test_a_wrong_parse_is_refused(parse, problem):
    assert problem in refused_sentence({"text": "x", "parse": parse})


@given(st.lists(st.integers(-1, 11), max_size=12))
def test_a_parse_is_refused_exactly_if_some_word_never_leads_to_a_root(heads):
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
        refused_sentence({"text": "x", "parse": parse})


def test_a_long_chain_of_heads_is_checked_quickly():
    parse = [{"word": "w", "head": position - 1} for position in range(50_000)]
    assert len(sentence(parse=parse).parse) == 50_000


def test_a_message_shows_a_long_value_short():
    assert len(refused({"id": "a " * 5000})) < 300


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
        made = document({**fields, "id": "d"} if with_id else fields)
    except Invalid as error:
        assert "\n" not in str(error) and str(error).isprintable()
    else:
        assert isinstance(made, Document)
