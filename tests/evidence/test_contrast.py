"""Rules of contrast: what each finds in a sentence beside a claim, and what it leaves alone."""

from __future__ import annotations

import pytest

from esr.evidence.contrast import find_contrasts, find_differences, read_statement, says_all

FOUND = [
    # claim, sentence, rule, words of the sentence, words of the claim
    ("Flynn discussed sanctions.", "Flynn did not discuss sanctions.", "negation", "not discuss", "discuss"),
    ("Flynn did not discuss sanctions.", "He discussed sanctions.", "negation", "discussed", "not discuss"),
    ("The ban affects doctors.", "Doctors aren't affected.", "negation", "aren't affected", "affected"),
    ("Doctors travelled home.", "Doctors were prevented from travelling.", "negation", None, "travelling"),
    ("There is no evidence of fraud.", "Evidence of fraud was found.", "negation", "Evidence", "no evidence"),
    ("Flynn discussed sanctions.", "He denied that Flynn discussed it.", "denial", None, "discussed"),
    ("Vaccines cause autism.", "That vaccines cause autism is false, he said.", "denial", None, "vaccines"),
    ("Taxes rose.", "The report that taxes rose is false.", "denial", "taxes rose is false", None),
    ("Sea levels fell last year.", "Sea levels rose last year.", "opposite", "rose", "fell"),
    ("The ban affects seven countries.", "The ban affects six countries.", "number", "six", "seven"),
    ("Growth was 4.7 percent.", "Growth was 3 % last year.", "number", "3 %", "4.7 percent"),
    ("It cost $2 million.", "It cost 5 million dollars.", "number", "5 million dollars", "$2 million"),
    ("It landed on 6 March 2017.", "It landed on March 8, 2017.", "date", "March 8, 2017", "6 March 2017"),
    (
        "It began in May 2016, ended in June 2017.",
        "It ended in June 2018, it began in May 2016.",
        "date",
        "June 2018",
        None,
    ),
    ("It was released in 2017.", "It was released on March 23, 2007.", "date", "March 23, 2007", "2017"),
    ("The film was directed by Ann Lee.", "It was directed by Bo Derr.", "name", "Bo Derr", "Ann Lee"),
    ("Directed by Ann Lee, it won.", "Directed by Bo Derr, it won.", "name", "Bo Derr", "Ann Lee"),
]
LEFT_ALONE = [
    ("Flynn did not discuss sanctions.", "Flynn never discussed sanctions."),  # both negate
    ("Flynn did not discuss sanctions.", "He denied discussing sanctions."),
    ("The travel ban affects doctors.", "Doctors were prevented from travelling."),
    ("Doctors were prevented from travelling.", "The travel ban affects doctors."),
    ("Flynn discussed sanctions.", "Not only did he discuss sanctions, he lied."),
    ("Flynn discussed sanctions.", "He did not know, but Flynn discussed sanctions."),  # another clause
    ("Sea levels fell last year.", "Wages rose last week as sea birds came."),  # nothing beside them agrees
    ("Shares rose to $5.", "Wages fell to $5."),  # of other things, to the same amount
    ("Sea levels did not fall.", "Sea levels rose."),  # the opposite of a negated word
    ("The ban affects seven countries.", "The ban affects 7 countries and six cities."),
    ("About 100 people came.", "At least 120 people came."),  # rounded numbers
    ("100 people came.", "About 120 people came."),
    ("It landed on 6 March 2017.", "It landed in March."),  # less exact, but no other date
    ("It was released in 2017.", "Its author was born in 1950."),  # a date of something else
    ("The war began in May 2016 and ended in June 2017.", "The war began in May 2016."),  # a part of it
    ("Two of seven countries signed.", "Two countries signed."),
    ("It may rain.", "In May 2017 it rained."),
    ("The film was directed by Ann Lee.", "Ann Lee directed it with Bo Derr."),
]


@pytest.mark.parametrize(("claim", "sentence", "rule", "text", "claimed"), FOUND)
def test_a_rule_names_the_words_that_differ(
    claim: str, sentence: str, rule: str, text: str | None, claimed: str | None
) -> None:
    (contrast,) = find_contrasts(read_statement(claim), read_statement(sentence))
    assert contrast.rule == rule
    assert contrast.text == sentence[contrast.start : contrast.end]
    assert text in (None, contrast.text) and claimed in (None, contrast.claimed)


@pytest.mark.parametrize(("claim", "sentence"), LEFT_ALONE)
def test_a_sentence_that_agrees_or_says_something_else_has_no_contrast(claim: str, sentence: str) -> None:
    assert find_contrasts(read_statement(claim), read_statement(sentence)) == []


def test_a_negation_reaches_no_further_than_its_clause() -> None:
    assert {*read_statement("He did not resign, taxes rose.").negated} == {"resign"}
    assert {*read_statement("He resigned, and that taxes rose is false.").negated} == {"tax", "rose"}


def test_other_languages_are_compared_by_numbers_in_digits_and_by_years() -> None:
    claim, sentence = (
        read_statement(text, "de") for text in ("Es waren 12 Tote.", "Es waren nicht 15 Tote, gegen 2017.")
    )
    assert [(each.rule, each.text) for each in find_contrasts(claim, sentence)] == [("number", "15")]


def test_a_number_of_another_unit_is_no_answer_to_that_of_the_claim() -> None:
    claim = read_statement("Teams from two provinces set out.")
    for text, others in (
        ("Teams from three provinces set out within two hours.", ["three"]),
        ("Teams from two provinces set out within three hours.", []),
        ("Teams of both provinces set out within two hours.", []),
    ):
        assert [each.text for each in find_contrasts(claim, read_statement(text))] == others


def test_a_sentence_says_a_claim_only_with_its_numbers_and_its_negation() -> None:
    claim = read_statement("Seven countries did not sign the treaty.")
    for text, says_it in (
        ("The treaty was not signed by 7 countries.", True),
        ("Several countries did not sign the treaty.", False),
        ("Seven countries spoke of the treaty.", False),
        ("Six countries did not sign the treaty in seven days.", False),
    ):
        assert says_all(claim, read_statement(text)) == says_it


def test_a_sentence_with_another_date_does_not_say_a_claim() -> None:
    claim = read_statement("Article 50 was triggered on 28 March 2017.")
    for text, says_it in (
        ("Britain will trigger Article 50, signalling its departure, on March 29.", False),
        ("Britain triggered Article 50 on March 28, a day before March 29.", True),
        ("Britain triggered Article 50.", True),
    ):
        assert says_all(claim, read_statement(text)) == says_it


def test_numbers_dates_and_names_that_the_claim_lacks_are_marked() -> None:
    claim = read_statement("Officials of Japan said four missiles landed on 6 March 2017.")
    sentence = read_statement("Officials of North Korea said on 8 March 2017 that five missiles landed.")
    assert [(part.kind, part.text) for part in find_differences(claim, sentence)] == [
        ("name", "North Korea"),
        ("date", "8 March 2017"),
        ("number", "five"),
    ]
    assert find_differences(claim, claim) == []
