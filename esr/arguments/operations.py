"""What takes arguments: the operations of the API, by what they do. Pages are "page"."""

from __future__ import annotations

ASKED = "search facets timeline explain compare query"
"""The operations that rank or count the sentences of a query."""
RANKED = f"{ASKED} similar document documents"
"""The operations with a ranking."""
WITH_HITS = "search similar"
"""The operations in which a request can choose the fields of hits."""
WORDS = "concordance collocations contrast frequencies keyness"
"""The operations about the words of a corpus."""
ABOUT_NAMES = "names network"
"""The operations that list names."""
FILTERED = (
    "search facets timeline similar compare query concordance collocations contrast frequencies names "
    "network reuse evidence statements alert_preview"
)
"""The operations that list or count sentences."""
ALERT = "alert_conditions alert_preview"
"""The commands and the operation that take the conditions of an alert: what takes a search takes its rows of
`reading` and `filter` too."""
CHECKED = "check check_body"
"""The operations that check the quotations of a text."""
OF_INDEX = (
    f"{RANKED} {WORDS} {ABOUT_NAMES} {CHECKED} name quotes reuse evidence statements search_body batch "
    "values complete analyze status collection dossier_add dossier_import "
    "alert_preview alert_create"
)
"""The operations of one index."""
