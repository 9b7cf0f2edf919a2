from __future__ import annotations

import json
import re

import pytest

from esr.errors import UsageError
from esr.features import FEATURES, NEEDS, RULES, get
from esr.features.feature import check_rule
from esr.features.subjectivity import THRESHOLD

EXPECTED = (
    "subj subj_score pos neg opt pers loc org ne quote numbers novelty title_overlap len position furniture"
)


def test_these_features_are_there() -> None:
    assert set(EXPECTED.split()) == set(FEATURES)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_says_what_it_is(name: str) -> None:
    feature = get(name)
    assert re.fullmatch("[a-z][a-z_]*", name) and feature.description and feature.source
    assert set(feature.needs) <= set(NEEDS)
    assert json.loads(json.dumps(feature.as_dict()))["name"] == name


def test_length_and_position_are_columns_that_every_index_has() -> None:
    own = {f.name: f.column for f in FEATURES.values() if f.compute is None}
    assert own == {"len": "length", "position": "position"}
    assert get("subj").column == "features.subj"


def test_an_unknown_feature_or_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown feature 'subjj': did you mean 'subj'"):
        get("subjj")
    with pytest.raises(UsageError, match="did you mean 'clues'"):
        check_rule("clue")
    assert set(THRESHOLD) == set(RULES)
