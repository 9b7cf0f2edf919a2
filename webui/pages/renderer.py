"""A page of the application: a template with the form and the addresses that every page has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from flask import Response, current_app, redirect, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response as Redirect

from esr.adjustments.adjustment import ALWAYS
from esr.errors import EsrError
from esr.ranking.searcher import Searcher
from webui.arguments import form, presets
from webui.arguments import form_submission as submitted
from webui.arguments import search_request as arguments
from webui.arguments.links import Here, Pairs
from webui.arguments.ranking_controls import KEPT, RankingControls, controls
from webui.arguments.search_request import VERSUS
from webui.running.settings import Settings

OWN = ("id",)
"""Arguments that only some pages have. `id`: the document or the sentence that is shown."""


class Pages:
    """Makes pages over the index of a request. `indexes`: the names of all."""

    def __init__(self, searcher: Searcher, limits: Settings, indexes: Sequence[str]) -> None:
        self.searcher = searcher
        self.limits = limits
        self.indexes = indexes

    def __call__(self, template: str, **values: Any) -> Response:
        given = form.pairs(request.query_string, self.limits, OWN)
        shared = [pair for pair in given if pair[0] not in OWN]
        # An error may be the engine's own: its page asks it for nothing.
        known = () if "problem" in values else self._features()
        html = render_template(
            template,
            form=form.form(shared, self.limits, known),
            versus=_versus(shared, known) if request.endpoint == "compare" else None,
            here=Here([p for p in shared if request.endpoint == "compare" or not p[0].startswith(VERSUS)]),
            presets=presets.offered([*ALWAYS, *known]),
            limits=self.limits,
            indexes=self.indexes,
            drawn=drawn,
            **values,
        )
        # A text may hold what UTF-8 cannot say (half of a surrogate pair). It becomes a question mark.
        return Response(html.encode("utf-8", "replace"), mimetype="text/html")

    def shorter(self, endpoint: str) -> Redirect | None:
        """To the short address of a submitted form; to the first page where it asks for nothing."""
        given = arguments.parse(request.query_string, self.limits)
        tidied = submitted.tidied(given, self.limits, self.indexes[0])
        asked = any(name == "q" and value.strip() for name, value in given)
        if tidied is None and asked:
            return None
        here = Here(given if tidied is None else tidied)
        return redirect(here(endpoint) if asked else Here([p for p in here.given if p[1].strip()])("home"))

    def _features(self) -> Sequence[str]:
        """What the form offers; nothing where the engine does not say."""
        try:
            return self.searcher.index.features()
        except EsrError:
            return ()


@lru_cache(KEPT)
def drawn(controls: RankingControls, title: str) -> Markup:
    """The controls of a ranking as HTML: half of a page's markup, and the same for most searches."""
    template: Any = current_app.jinja_env.get_template("ranking.html")
    return Markup(template.module.ranking(controls, title))


def _versus(given: Pairs, known: Sequence[str]) -> Any:
    return controls(given, known, VERSUS)
