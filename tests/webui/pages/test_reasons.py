"""The reason for a sentence, in words."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from esr import analysis
from tests.support.fake_index import FLOOD, STORM
from webui.pages.reasons import describe_match

ANALYZER = analysis.get("english-stem")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("storm", "the word itself"),
        ("storms wind", "one of two words; in the headline"),
        ("storms houses", "both words"),
        ("storms houses blew", "two of three words; once beside it"),
        ("storm damage forty house", "all four words"),
        ("night hurt", "none of the words itself; twice beside it; in the headline"),
    ],
)
def test_the_reason_counts_the_words_of_the_query(query: str, reason: str) -> None:
    assert describe_match(STORM, dict.fromkeys(ANALYZER.terms(query)), ANALYZER) == reason


def test_numbers_are_spelled_up_to_ten() -> None:
    record = FLOOD._replace(previous="storm " * 3, next="storm " * 9)
    assert describe_match(record, ["storm"], ANALYZER) == "the word itself; 12 times beside it"
    assert describe_match(record._replace(next=None), ["storm"], ANALYZER).endswith("three times beside it")


def test_the_best_is_all_of_it_and_no_score_is_shown(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake+relief+China&fold=no").text
    shares = [int(share) for share in re.findall(r"(\d+)&thinsp;% of the best", html)]
    assert shares[0] == 100 and len(shares) > 3 and all(share <= 100 for share in shares)
    (listed,) = re.findall(r'(?s)<ol class="hits">(.*?)</ol>', html)
    assert "score" not in re.sub("<[^>]+>", "", listed)
    assert "% of the best" not in real.get("/search?q=earthquake&sort=date").text


def test_presets_lead_and_the_model_is_in_the_fine_print(real: FlaskClient) -> None:
    for address, label, model in (
        ("", "Balanced", "ranked by 2si"),
        ("&model=bm25", "Words alone", "ranked by bm25"),
        ("&model=dir", "ranked by dir", "ranked by dir"),
    ):
        html = real.get(f"/search?q=earthquake{address}").text
        summary = re.search(r'<span class="set">(.*?)</span>', html)
        assert summary and summary[1] == label
        assert f'<p class="fine">{model}' in html


def test_a_document_shows_scores_only_where_a_sentence_has_a_word(real: FlaskClient) -> None:
    html = real.get("/document?id=earthquake-relief&q=earthquake+relief+China").text
    assert html.count('class="why"') == html.count(" hit") > 0
