"""Lexica of subjectivity, and the polarity and subjectivity of sentences by them."""

from __future__ import annotations

import math
from importlib import metadata
from pathlib import Path

import pytest

from benchmarks.studies import subjectivity
from esr.enrichment.enricher import Enricher
from esr.errors import EsrError, InputError
from esr.features import lexicon as lexicon_module
from esr.features.lexicon import Clue, Lexicon, read_lexicon
from esr.features.subjectivity import THRESHOLD, score
from esr.text.document import Document, Sentence
from esr.text.sentence_enrichment import Annotation, Token
from tests.support.fake_enricher import LEXICON, annotated, tagged, values
from tests.support.runs import only_long


def test_the_default_lexicon_has_the_words_of_both_packages() -> None:
    words = lexicon_module.default_lexicon()
    assert words.has_polarity and len(words.words) > 4000
    assert words.clue("good", "JJ") == Clue(1, True)
    assert words.clue("crisis", "NN") == Clue(-1, True)
    # Of TextBlob alone: an adverb that takes no side.
    assert words.clue("really", "RB") is None or words.clue("really", "RB") == Clue(0, True)
    assert words.clue("monday", "NN") is None


@pytest.mark.parametrize("tag", ["IN", "NNP", "MD", "UH", ""])
def test_only_content_words_are_clues(tag: str) -> None:
    assert lexicon_module.default_lexicon().clue("like", "VBP") and not lexicon_module.default_lexicon().clue(
        "like", tag
    )


def test_the_sign_of_vader_takes_precedence_for_words_of_both() -> None:
    words = lexicon_module.default_lexicon()
    vader = dict(lexicon_module.read_vader_entries())
    both = [(word, cls) for word, cls in words.words if cls is not None and word in vader]
    assert both and all(words.words[key] == vader[key[0]] for key in both)


def test_its_name_has_the_versions_of_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "textblob" in lexicon_module.default_lexicon_name() and any(
        map(str.isdigit, lexicon_module.default_lexicon_name())
    )
    monkeypatch.setattr(metadata, "distribution", _missing)
    message = r"the default lexicon needs vaderSentiment, .*: pip install 'esr\[enrich\]'"
    with pytest.raises(EsrError, match=message):
        lexicon_module.default_lexicon_name()


def _missing(name: str) -> object:
    raise metadata.PackageNotFoundError(name)


MPQA = "type={} len=1 word1={} pos1={} stemmed1={} priorpolarity={}\n"


def lexicon(folder: Path, content: str | bytes, name: str = "words.txt") -> Lexicon:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_lexicon([path])


def test_plain_words_are_strong_clues_without_polarity(tmp_path: Path) -> None:
    words = lexicon(tmp_path, "\ufeff# mine\r\nGood\r\n\r\n; more\r\nwell-known\r\n")
    assert words.clue("good", "JJ") == Clue(0, True) and not words.has_polarity
    assert words.clue("well-known", "JJ") and not words.clue("mine", "NN")


def test_a_score_gives_the_sign(tmp_path: Path) -> None:
    words = lexicon(tmp_path, "good\t2.5\t0.3\t[1, 2]\nbad\t-1\nplain\t0\n")
    polarities = {word: clue.polarity for (word, _), clue in words.words.items()}
    assert polarities == {"good": 1, "bad": -1, "plain": 0}


@pytest.mark.parametrize(
    ("name", "head", "polarity"),
    [
        ("positive-words.txt", "; words\n", 1),
        ("negative-words.txt", "; The positive words are elsewhere\n", -1),
        ("words.txt", ";   Opinion Lexicon: Negative\n", -1),
        ("words.txt", "; positive and negative\n", 0),
        ("nonpositive.txt", "", 0),
    ],
)
def test_the_lists_of_hu_and_liu_have_the_polarity_they_say(
    tmp_path: Path, name: str, head: str, polarity: int
) -> None:
    words = lexicon(tmp_path, f"{head}na\xefve\ngood\n".encode("latin-1"), name)
    assert words.clue("naïve", "JJ") == Clue(polarity, True)


def test_the_mpqa_lexicon_has_classes_strengths_and_stems(tmp_path: Path) -> None:
    lines = [("strongsubj", "abuse", "verb", "y", "negative"), ("weaksubj", "nice", "adj", "n", "positive")]
    lines += [("weaksubj", "odd", "anypos", "n", "both"), ("weaksubj", "loving", "adj", "n", "positive")]
    words = lexicon(tmp_path, "".join(MPQA.format(*line) for line in lines), "subjclues.tff")
    assert words.clue("abusing", "VBG") == words.clue("abuse", "VB") == Clue(-1, True)
    assert words.clue("abuses", "NNS") is None
    assert words.clue("nice", "JJ") == Clue(1, False) and words.clue("loved", "JJ") is None
    assert words.clue("odd", "NN") == Clue(0, False)


def test_several_files_are_one_lexicon_and_the_name_has_a_digest_of_their_contents(tmp_path: Path) -> None:
    for name, word in (("positive.txt", "good"), ("negative.txt", "bad")):
        (tmp_path / name).write_text(f"{word}\nboth\n")
    paths = [tmp_path / "positive.txt", tmp_path / "negative.txt"]
    words = read_lexicon(paths)
    assert [words.words[w, None].polarity for w in ("good", "bad", "both")] == [1, -1, -1]
    assert words.name.startswith("positive.txt + negative.txt ")
    assert read_lexicon(paths).name == words.name != read_lexicon(paths[:1]).name
    paths[0].write_text("better\n")
    assert read_lexicon(paths).name != words.name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("good\nvery bad\n", r"words.txt:2: 'very bad' is neither a word nor word<TAB>score"),
        ("good\tmuch\n", r"words.txt:1: the score of 'good' must be a number, not 'much'"),
        ("good\tnan\n", r"words.txt:1: the score of 'good' must be a number"),
        (
            "; all\n\n" + MPQA.format("strong", "a", "adj", "n", "neutral"),
            r"words.txt:3: type must be one of ",
        ),
        (MPQA.format("weaksubj", "a", "nn", "n", "neutral"), r"words.txt:1: pos1 must be .*, not 'nn'"),
        ("type=weaksubj pos1=adj priorpolarity=both", r"words.txt:1: word1 is missing"),
        ("type=weaksubj pos1=adj", r"words.txt:1: priorpolarity must be .*, and is missing"),
        ("# nothing\n", r"words.txt: this lexicon has no words"),
        (b"\x1f\x8b\0\0", r"words.txt: not a text file"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lexicon(tmp_path, content)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.txt: cannot read this lexicon: No such file"):
        read_lexicon([tmp_path / "none.txt"])


SENTENCES = {
    "a/DT good/JJ day/NN": (1, 0),
    "Good/JJ ,/, bad/JJ and/CC good/JJ": (2, 1),
    # A preposition is no polar word, the verb is.
    "it/PRP looks/VBZ like/IN rain/NN": (0, 0),
    "they/PRP like/VBP rain/NN": (1, 0),
    # Nor is a name or a modal.
    "Theresa/NNP May/NNP": (0, 0),
    "it/PRP may/MD rain/VB": (0, 0),
    # A negation turns the sign, within a clause and four words.
    "not/RB good/JJ": (0, 1),
    "is/VBZ n't/RB a/DT very/RB good/JJ": (0, 1),
    "never/RB bad/JJ": (1, 0),
    "not/RB a/DT b/DT c/DT d/DT good/JJ": (1, 0),
    "he/PRP did/VBD not/RB ,/, good/JJ man/NN": (1, 0),
    "not/RB but/CC good/JJ": (1, 0),
    "not/RB only/RB good/JJ": (1, 0),
    # No polarity is known of it.
    "really/RB": (0, 0),
    "": (0, 0),
}


@pytest.mark.parametrize("text", SENTENCES)
def test_positive_and_negative_words_are_counted_by_the_sign_they_have_in_their_sentence(text: str) -> None:
    positive, negative = SENTENCES[text]
    of = annotated(tagged(text))
    assert [values(name, of) for name in ("pos", "neg", "opt")] == [
        [positive],
        [negative],
        [positive + negative],
    ]


def test_a_sentence_without_annotation_has_no_polarity() -> None:
    assert values("pos", annotated(tagged("good/JJ"), None)) == [1, None]


def test_a_lexicon_without_polarity_says_nothing_of_polarity() -> None:
    plain = Lexicon("plain", {("good", None): Clue(0, True)})
    assert values("opt", annotated(tagged("good/JJ"), lexicon=plain)) == [None]


def test_a_hyphen_ends_a_clause_only_between_spaces() -> None:
    for space, negative in ((False, 1), (True, 0)):
        tokens = [Token("not", "RB", -1, True), Token("so", "RB", -1, space), Token("-", "HYPH", -1, space)]
        tokens += [Token("called", "VBN", -1, True), Token("good", "JJ", -1, False)]
        assert values("neg", annotated(Annotation(tuple(tokens), (), is_tagged=True, is_parsed=False))) == [
            negative
        ]


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("the/DT x/NN", 0),
        ("good/NN", 1),
        ("good/NN good/NN good/NN good/NN good/NN", 4),  # at most four clues
        ("she/PRP", 0.5),
        ("I/PRP", 1.0),  # a pronoun, and of the first person
        ("could/MD", 1.0),
        ("will/MD ’ll/MD", 0),
        ("red/JJ", 0.5),
        ("red/JJ red/JJ red/JJ red/JJ", 1.5),  # at most three of a cue
        ("slowly/RB", 0.7),
        ("not/RB", 0.5),  # a negation, and no adverb
        ("very/RB", 1.4),
        ("7/CD", -1),
        ("?/.", 1.5),
        ("However/RB", 1.4),
        ("perhaps/RB", 1.7),
        ("good/NNP May/MD", 1.0),  # a name is no clue
        ("", 0),
    ],
)
def test_the_score_is_the_weighted_sum_of_clues_and_cues_by_length(text: str, weight: float) -> None:
    sentence = tagged(text)
    assert score(sentence, LEXICON) == pytest.approx(weight / math.log(2 + len(sentence.tokens)))


def test_a_sentence_is_subjective_from_the_threshold_on() -> None:
    of = annotated(tagged("good/JJ bad/JJ !/."), tagged("the/DT day/NN"), None)
    assert values("subj", of) == [1, 0, None]
    scores = values("subj_score", of)
    assert scores[0] and scores[0] >= THRESHOLD["score"] and scores[1:] == [0, None]


def test_the_rule_of_clues_looks_at_the_neighbours() -> None:
    strong, weak, nothing = tagged("good/JJ"), tagged("long/JJ"), tagged("day/NN")
    two = tagged("good/JJ bad/JJ")

    def middle(before: object, own: object, after: object) -> list[float | None]:
        of = annotated(before, own, after, rule="clues")  # type: ignore[arg-type]
        return [values(name, of)[1] for name in ("subj", "subj_score")]

    assert middle(nothing, two, nothing) == [1, 1.0]
    assert middle(nothing, strong, nothing) == [0, 0.5]
    assert middle(strong, nothing, nothing) == [0, 0.0]
    assert middle(strong, nothing, strong) == [0, 0.5]
    assert middle(weak, weak, nothing) == [0, 0.0]
    assert middle(weak, weak, weak) == [0, 0.5]
    assert middle(None, nothing, None) == [0, 0.0]
    assert middle(two, None, two) == [None, None]


def test_words_of_a_lexicon_count_only_as_content_words() -> None:
    of = annotated(tagged("like/IN like/IN may/MD"), tagged("like/VBP good/JJ"), rule="clues")
    assert values("subj", of) == [0, 1]


# Labelled sentences, which are not part of the project, are looked for in a folder `shared` beside it.
# benchmarks/studies/subjectivity.py prints the figures.


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT.parent / "shared" / "collections" / "subjectivity"
# The least area under the ROC curve, and the least F1: a little below what was measured.
LEAST = {
    "pang-lee-2004": (0.68, 0.62),
    "newssd-eng-train": (0.69, 0.63),
    "newssd-eng-val": (0.50, 0.50),  # a hundred sentences of few texts, with a standard error of .06
}


@only_long
@pytest.mark.endurance
@pytest.mark.parametrize("name", LEAST)
def test_subjective_sentences_are_told_from_others(name: str) -> None:
    path = FOLDER / f"{name}.tsv"
    if not path.is_file():
        pytest.skip(
            f"{name}.tsv is not there: it would be in shared/collections/subjectivity beside the project"
        )

    predictions = subjectivity.predict(path, Enricher(["features"]))
    area, _ = subjectivity.auc(predictions)
    least_area, least_f1 = LEAST[name]
    assert area >= least_area
    assert subjectivity.macro_f1(predictions) >= least_f1


@pytest.mark.slow
def test_opinions_score_higher_than_reports(tmp_path: Path) -> None:
    """The same, with a few sentences made by hand, so that it always runs."""
    opinions = [
        "Perhaps this is the most absurd plan we have ever seen!",
        "I think she could hardly have done a better job, though.",
        "Why should anybody believe such a terrible lie?",
    ]
    reports = [
        "The company reported sales of 3.2 billion dollars in 2016.",
        "Police arrested two men in Paris on Monday.",
        "The court will hear the case on 7 February.",
    ]
    sentences = tuple(Sentence(str(n), text) for n, text in enumerate([*opinions, *reports]))
    features = [found.features for found in Enricher(["features"]).enrich(Document("d", sentences))]
    assert [known["subj"] for known in features] == [1, 1, 1, 0, 0, 0]
    assert min(f["subj_score"] for f in features[:3]) > 1 + max(f["subj_score"] for f in features[3:])
