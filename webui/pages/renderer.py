"""Renders pages: a template with the form and the links that all pages have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from flask import Response, current_app, redirect, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response as Redirect

from esr.adjustments.adjustment import BUILTIN_FEATURES
from esr.documents.enrichment import PARSE, VECTORS
from esr.errors import EsrError
from esr.queries import FIELDS, METADATA_FIELD
from esr.ranking.searcher import Searcher
from webui.arguments.controls import RankingControls
from webui.arguments.form import build_form, clean_arguments
from webui.arguments.form_submission import shorten
from webui.arguments.links import Links
from webui.arguments.names import SIMILAR_ARGUMENTS, TIMELINE_ARGUMENTS, VERSUS
from webui.arguments.presets import available_presets
from webui.arguments.query_string import split_pairs
from webui.arguments.ranking_controls import CACHED_RANKINGS, ranking_controls
from webui.pages.query_examples import QUERY_EXAMPLES
from webui.running.settings import Settings

PAGE_ARGUMENTS = ("id", "lost", *SIMILAR_ARGUMENTS, *TIMELINE_ARGUMENTS)
"""Arguments of some pages alone. `id`: the document or the sentence that is shown."""


class PageRenderer:
    """Renders pages over the index of the current request. `index_names`: the names of all indexes."""

    def __init__(self, searcher: Searcher, settings: Settings, index_names: Sequence[str]) -> None:
        self.searcher = searcher
        self.settings = settings
        self.index_names = index_names

    def __call__(self, template: str, **values: Any) -> Response:
        own = clean_arguments(request.query_string, self.settings, PAGE_ARGUMENTS)
        arguments = [pair for pair in own if pair[0] not in PAGE_ARGUMENTS]
        # An error may be the engine's, so its page asks the engine for nothing.
        has_problem = "problem" in values
        features = () if has_problem else self._index_features()
        stored = () if has_problem else self._stored_parts()
        is_comparison = request.endpoint == "compare"
        without_versus = [pair for pair in arguments if not pair[0].startswith(VERSUS)]
        html = render_template(
            template,
            form=build_form(arguments, self.settings, features, stored),
            versus=ranking_controls(arguments, features, VERSUS, stored) if is_comparison else None,
            links=Links(arguments if is_comparison else without_versus),
            presets=available_presets([*BUILTIN_FEATURES, *features, *stored]),
            settings=self.settings,
            index_names=self.index_names,
            render_controls=render_controls,
            query_examples=QUERY_EXAMPLES,
            query_fields=(*FIELDS, METADATA_FIELD),
            **values,
        )
        # A text may hold half of a surrogate pair, which UTF-8 cannot encode. It becomes a question mark.
        return Response(html.encode("utf-8", "replace"), mimetype="text/html")

    def redirect_form(self, endpoint: str) -> Redirect | None:
        """From a submitted form to its short address; from a search without a query to the first page."""
        pairs = split_pairs(request.query_string, self.settings)
        short = shorten(pairs, self.settings, self.index_names[0])
        has_query = any(name == "q" and value.strip() for name, value in pairs)
        if short is None and has_query:
            return None
        arguments = pairs if short is None else short
        if has_query:
            return redirect(Links(arguments).to(endpoint))
        return redirect(Links([pair for pair in arguments if pair[1].strip()]).to("home"))

    def _index_features(self) -> Sequence[str]:
        """What the form offers; nothing where the engine gives no answer."""
        try:
            return self.searcher.index.features()
        except EsrError:
            return ()

    def _stored_parts(self) -> Sequence[str]:
        """The parts of enrichment that some rankings need, where the index has them."""
        index = self.searcher.index
        try:
            has_parts = {PARSE: index.has_parses(), VECTORS: index.encoder() is not None}
        except EsrError:
            return ()
        return [part for part, has_part in has_parts.items() if has_part]


@lru_cache(CACHED_RANKINGS)
def render_controls(controls: RankingControls, title: str) -> Markup:
    """The controls of a ranking as HTML: half of a page's markup, and the same for most searches."""
    template: Any = current_app.jinja_env.get_template("ranking.html")
    return Markup(template.module.ranking(controls, title))
