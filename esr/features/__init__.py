"""Features: numbers known of a sentence before any query."""

# Registers them, in the order in which lists show them.
from esr.features import subj, subj_score  # noqa: F401 isort: skip
from esr.features import pos, neg, opt  # noqa: F401 isort: skip
from esr.features import pers, loc, org, ne  # noqa: F401 isort: skip
from esr.features import quote, numbers, novelty, title_overlap  # noqa: F401 isort: skip
from esr.features import len, position  # noqa: F401 isort: skip
from esr.features.feature import FEATURES, NEEDS, RULES, Feature, get

__all__ = ["FEATURES", "NEEDS", "RULES", "Feature", "get"]
