from __future__ import annotations

from pathlib import Path

import pytest

from esr.errors import EsrError, InputError
from esr.features import lexicon as lexicon_module
from esr.features.lexicon import Clue, Lexicon, read_lexicon


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
    vader = dict(lexicon_module._vader_entries())
    both = [(word, cls) for word, cls in words.words if cls is not None and word in vader]
    assert both and all(words.words[key] == vader[key[0]] for key in both)


def test_its_name_has_the_versions_of_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "textblob" in lexicon_module.default_lexicon_name() and any(
        map(str.isdigit, lexicon_module.default_lexicon_name())
    )
    monkeypatch.setattr(lexicon_module, "distribution", _missing)
    message = r"the default lexicon needs vaderSentiment, .*: pip install 'esr\[enrich\]'"
    with pytest.raises(EsrError, match=message):
        lexicon_module.default_lexicon_name()


def _missing(name: str) -> object:
    raise lexicon_module.PackageNotFoundError(name)


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
