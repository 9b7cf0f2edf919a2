"""What news in English has before and behind full stops. A bar shows where a sentence ends."""

import pytest

from esr.text.sentences import split_sentences


def check(marked: str, language: str = "en") -> None:
    assert split_sentences(marked.replace(" | ", " "), language) == marked.split(" | ")


@pytest.mark.parametrize(
    "marked",
    [
        "The troops, said Lt. Matt Harris, left on Monday. | Nobody was hurt.",
        "Lt. Gov. Dan Patrick spoke first. | Then-Sen. Barack Obama and ex-Rep. John Smith came, too.",
        "Sens. John McCain and Lindsey Graham met Reps. Devin Nunes and Adam Schiff. | They talked.",
        "Gen. He Weidong met Mr. So and Ms. An in Beijing. | He left.",
        "Dr. J. K. Smith Jr. and the Rev. Martin Luther King Jr. met at St. John's. | It rained.",
        "J. A. Hobson and E. I. du Pont met J. I. Packer. | I. A. Smith and A. B. Lee left. | A dog came.",
        "George W. Bush spoke. | C. S. Lewis wrote it. | They chose plan B. | It worked.",
    ],
)
def test_ranks_titles_and_initials_stay_with_the_name(marked):
    check(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "U.N. Secretary General Ban Ki-moon spoke to the U.S. Senate. | It listened.",
        "The U.S. Ambassador to the U.N. Nikki Haley said so. | He met E.U. President Tusk.",
        "He moved to the U.S. | He works there. | He likes the U.K. | But he left.",
        "They live in Washington, D.C. | The rent is high. | They pay in the U.S. | Officials agree.",
        '"We love the U.S. | We do," he said of the U.S. | "They left the E.U."',
        "U.S.-led forces left. | The U.S. and the E.U. agreed.",
        "A Ph.D. student wrote it. | She has a Ph.D. | She teaches.",
        "It starts at 5 p.m. Monday. | It ends at 6 p.m. | Then they leave at 7 p.m. ET or so.",
        "It came in 44 B.C. | In Rome, Caesar died at 10 a.m. sharp.",
    ],
)
def test_a_dotted_acronym_ends_a_sentence_only_before_a_word_that_begins_one(marked):
    check(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "Apple Inc. Chief Executive Tim Cook met Ford Motor Co. Chairman Bill Ford. | They agreed.",
        "He works for Apple Inc. | The company agreed. | It bought Ford Corp. | Terms were not told.",
        "It was in Jan. 6 hearings on Capitol Hill. | It ended in Jan. | The room was cold.",
        "He lives on Wall St. | The bank is near. | St. Louis is far.",
        "They grow apples, pears, etc. | Farmers like it. | They sell apples, etc. to us.",
        "Sen. Bob Corker (R-Tenn.), of Tenn. and D-Mass. Senator Warren met. | They talked.",
        "They met in Mass. | The deal held.",
        "Smith et al. found it, e.g. The Hague, i.e. Dutch cities, as in Roe v. Wade. | It counts.",
    ],
)
def test_abbreviations_of_companies_months_states_and_places(marked):
    check(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "It cost Rs. 500 crore. | It rose.",
        "It ends at 5p.m. Monday. | It is worth $5bn. | Ford knew? | It did.",
        "It is worth $5 bn. Ford shares rose. | It is worth 3.5 mln. | The deal closed at $3.50. | It held.",
        "He is 5 ft. 10 in. tall and 180 lbs. | Nobody knew. | He fled at 60 mph.",
        "See No. 5, Art. 3, vol. 2, pp. 1-8 and Fig. 3. | It shows more. | Vol. II is out.",
        "No. | He said no. | No. 10 is open.",
        "It was in 1995. | 20 people came. | In 1996. | It rained.",
        "1. Stay away from people. | 2.3.1. The next step is due.",
    ],
)
def test_money_units_and_numbers(marked):
    check(marked)


@pytest.mark.parametrize(
    "marked",
    [
        'He said: "Go." | Then he left. | "It is done!" | She left.',
        "He said: “Go.” | Then he left. | ‘It is done!’ | (She left.) | He stayed.",
        '"Why?" Smith asked. | "We won!" President Donald Trump tweeted on Monday. | He left.',
        '"Why?" he asked. | "We left." | He did, too.',
        'It is "the best show!" of all. | "Who came?" | Nobody knew.',
        "It was so in 1805.[19] | His luck held. [20] | It was late.",
        '"It is late. " | "We left. " | He knew. | " We go. " | She stayed.',
    ],
)
def test_closing_quotes_brackets_and_notes_stay_with_their_sentence(marked):
    check(marked)


def test_a_quote_closes_a_sentence_that_lacks_the_blank_behind_it():
    assert split_sentences('"He had to grow up."Critics agreed.', "en") == [
        '"He had to grow up."',
        "Critics agreed.",
    ]


@pytest.mark.parametrize(
    "marked",
    [
        "She lives with MS. | The disease is rare. | MS. JONES and DR. SMITH came to ST. LOUIS.",
        "He lives in San Diego, CA. | The rent is high. | It was built ca. 1850. | It burnt.",
        "It rose 5 per cent. | Shares fell. | He edited Viz. | Since then he paints.",
        "He came 1st. | 20 others came. | It is state of the art. | 40 paintings hang there.",
        "The man—Lt. Matt Harris—left. | He met Then-Sen. Obama. | They can't. | Smith left.",
        "They chose vitamin-C. | Smith left. | He was here in June (Gen. Smith knew). | He left.",
    ],
)
def test_a_word_is_no_abbreviation_because_it_ends_like_one_or_has_capitals(marked):
    check(marked)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It fell, he said.- The dollar rose.", ["It fell, he said.", "- The dollar rose."]),
        ("They left the U.S.- The dollar rose.", ["They left the U.S.", "- The dollar rose."]),
        ("'You never know.'Police agreed.", ["'You never know.'", "Police agreed."]),
        ("The U.S.'s role and the U.S.-led force of Inc.- Owned firms.", None),
        ("Bayern vs.- Augsburg (20:30), he said.-and left.", None),
    ],
)
def test_a_sentence_ends_where_a_web_page_has_no_blank_or_a_dash_for_it(text, sentences):
    assert split_sentences(text, "en") == (sentences or [text])


@pytest.mark.parametrize(
    "text",
    [
        "BERLIN (Reuters) - The chancellor spoke to reporters on Monday.",
        "WASHINGTON, Feb. 7 (AP) — The Senate voted late on Monday.",
        "ST. LOUIS, Mo. (AP) -- The Cardinals lost again.",
        "MOSCOW, March 9. /TASS/. Russia expects the talks to go on.",
        "By Jane Doe BERLIN (Reuters) - The chancellor spoke.",
    ],
)
def test_a_dateline_stays_with_its_sentence(text):
    assert split_sentences(text, "en") == [text]


@pytest.mark.parametrize(
    "marked",
    [
        "Trump doubles down on his deportation plan | It already looks like a failure, Smith says.",
        "Travel ban | After a month in office he signed it. | Lack of fresh water | But the rains came.",
        "Storms of 2015 | It rained.",
        "He saw the film In Flames, the show The Week In Politics and wrote Love It again.",
        "Of the two He chose one, and in It he trusted.",
        'He says: "When it rains, it pours." | They left: He stayed.',
    ],
)
def test_a_heading_that_runs_into_the_text_ends_before_a_word_that_begins_sentences(marked):
    check(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "Crane falls in the city | Saturday, September 12, 2015 | A crane fell on Friday. | Nobody was hurt.",
        "Monday, May 18, 2015 | On Friday, fishermen left. | It was late.",
        "He came on Monday, May 18, 2015 Ford said. | The trial begins Friday, July 21, 2017 in Rome.",
        "They met (Friday, July 21, 2017 Rome) here. | It was late—Friday, July 21, 2017 Rome time.",
        "It ends Friday, July 21, 2017. | It was Sunday, May 7, 2017, Ford said.",
    ],
)
def test_a_date_between_a_heading_and_the_text_is_a_line_of_its_own(marked):
    check(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "She reads Yahoo! and AOL. | He left Jeopardy! last week. | Wow! | it works.",
        "i like this. | you do not. | do they? | yes! | it is ok",
        "We love this song. | pic.twitter.com/AnlBSMinm4 shows it. | We left Rome. | www.a.example has more.",
        "He met voc. ed. classes. | They left... and came. | Then... | It was over. | The end… | He left.",
        'She left Rome. | "the best city," she said. | "We left." he said.',
    ],
)
def test_a_sentence_may_begin_with_a_small_letter_behind_a_plain_word(marked):
    check(marked)
