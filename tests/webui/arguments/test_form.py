"""The form shows the arguments of an address, and its links change them."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from esr import models
from esr.arguments.tables.table import PAGE
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.sentence_enrichment import VECTORS
from tests.support.fake_index import FakeIndex
from webui.app import create_app
from webui.arguments.form import Form, build_form, clean_arguments, shorten
from webui.arguments.links import Links, change_arguments
from webui.arguments.rankings import PRESETS, ControlRow, Preset, available_presets, ranking_controls
from webui.arguments.request import read_search
from webui.running.settings import Settings

LIMITS = Settings()


def form_of(*arguments: tuple[str, str]) -> Form:
    return build_form(clean_arguments(urlencode(arguments).encode(), LIMITS), LIMITS)


def selected(form: Form, *names: str) -> list[tuple[str, str]]:
    """The selected values of selects, with their labels."""
    options = (option for name in names for option in form.fields[name].options)
    return [(option.value, option.label) for option in options if option.is_selected]


def ticked(form: Form) -> set[str]:
    return {name for name, field in form.fields.items() if field.kind == "tick" and field.is_set}


def test_the_form_has_the_values_of_the_address() -> None:
    form = form_of(("q", "storm"), ("k", "7"), ("after", "2017"), ("sort", "date"), ("group", "document"))
    assert (form.query, ticked(form)) == ("storm", {"group", "fold"})
    assert [(field.row.name, field.value) for field in form.days] == [("after", "2017")]
    assert selected(form, "k", "sort") == [("7", "7"), ("date", "newest first")]
    assert form.summary == ["With context", "newest first", "by document", "after 2017"]


def test_every_argument_with_a_label_has_a_field() -> None:
    fields = form_of(("q", "storm")).fields
    assert fields.keys() == {name for name, row in PAGE.items() if row.label}
    assert {field.kind for field in fields.values()} == {"select", "tick", "day", "value"}


def test_the_form_has_the_share_that_makes_a_repeat() -> None:
    form = form_of(("q", "storm"), ("novel", "yes"), ("overlap", "0.75"))
    assert ticked(form) == {"novel", "fold"} and form.summary == ["With context", "only what is new"]
    assert selected(form, "overlap") == [("0.75", "75% or more")]
    assert selected(form_of(("overlap", "1")), "overlap") == [("1", "100%")]
    assert selected(form_of(("overlap", "much")), "overlap") == [("0.8", "80% or more")]


def test_the_form_keeps_lists_without_passages_and_with_furniture() -> None:
    form = form_of(("q", "storm"), ("passages", "no"), ("furniture", "yes"))
    assert ticked(form) == {"fold", "passages", "furniture"}
    assert form.summary == ["With context", "one by one", "links and notices like sentences"]


def test_the_form_says_how_the_query_is_read() -> None:
    form = form_of(("q", "storm"), ("require", "all"), ("literal", "yes"))
    assert ticked(form) == {"require", "literal", "fold"}
    assert form.summary == ["With context", "all words", "searched literally"]
    assert ticked(form_of(("require", "some"), ("literal", "full"), ("fold", "no"))) == set()


def test_filters_are_ticked_boxes() -> None:
    form = form_of(("source", "a"), ("source", "b"), ("entity", "person:A B"), ("document", "d"))
    assert [(k.name, k.value) for k in form.filters] == [
        ("source", "a"),
        ("source", "b"),
        ("entity", "person:A B"),
        ("document", "d"),
    ]


def test_the_form_keeps_what_links_of_the_results_have_set(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake&per_document=all&query_language=en").text
    form = html.partition('<form class="search"')[2].partition("</form>")[0]
    assert re.findall('<input type="hidden" name="([^"]+)" value="all">', form) == ["per_document"]
    short = real.get("/search?q=flood&form=2si&per_document=all&fold=yes").headers["Location"]
    assert short == "/search?q=flood&per_document=all"
    assert 'name="languages"' not in real.get("/search?q=earthquake&languages=all").text  # which is refused


def test_a_wrong_value_leaves_the_form_usable() -> None:
    form = form_of(("model", "nonsense"), ("sort", "nonsense"), ("k", "99999"), ("nonsense", "1"))
    assert [value for value, _ in selected(form, "k", "sort")] == ["10", ""]
    assert form.ranking.model.model is models.DEFAULT


def test_a_number_too_long_to_read_leaves_the_form_usable() -> None:
    limits = Settings(query_chars=5_000)
    form = build_form(clean_arguments(b"k=" + b"1" * 4_400, limits), limits)
    assert selected(form, "k") == [("10", "10")]


@given(st.binary(max_size=80))
def test_any_address_makes_a_form(raw: bytes) -> None:
    form = build_form(clean_arguments(b"q=" + raw, LIMITS), LIMITS)
    assert len(form.summary) >= 1
    assert not any(ord(character) < 32 for character in form.query)


Pair = tuple[str, str]
FORM = [("q", "storm"), ("form", "2si"), ("fold", "yes")]


def short(*fields: Pair) -> list[Pair] | None:
    return shorten([*FORM, *fields], Settings())


def test_an_address_that_is_no_form_stays_unchanged() -> None:
    assert shorten([("q", "storm"), ("k", "10"), ("source", "")], Settings()) is None


@pytest.mark.parametrize(
    "default",
    [
        ("model", "2si"),
        ("context", ""),
        ("context", "both"),
        ("params.mu", ""),
        ("params.mu", "30"),
        ("prior.length", "0"),
        ("k", "10"),
        ("sort", ""),
        ("source", " "),
        ("feature.0.name", ""),
        ("feature.0.form", "log"),
    ],
)
def test_defaults_are_left_out(default: Pair) -> None:
    assert short(default) == [("q", "storm")]


@pytest.mark.parametrize(
    "setting",
    [
        ("context", "document"),
        ("params.mu", "50"),
        ("params.mu", "wrong"),
        ("prior.length", "1"),
        ("k", "20"),
        ("sort", "date"),
        ("require", "all"),
        ("literal", "yes"),
        ("source", "bbc"),
        ("entity", "person:A"),
        ("feature", "len:log:0.1"),
    ],
)
def test_other_settings_stay(setting: Pair) -> None:
    assert sorted(short(setting) or []) == sorted([("q", "storm"), setting])


def test_parameters_and_context_of_the_previous_model_are_dropped() -> None:
    given = [("model", "bm25"), ("params.mu", "50"), ("context", "document")]
    assert short(*given) == [("q", "storm"), ("model", "bm25")]


def test_a_parameter_of_another_context_is_dropped() -> None:
    assert short(("context", "document"), ("params.nu", ".3")) == [("q", "storm"), ("context", "document")]
    assert short(("params.nu", ".3")) == [("q", "storm"), ("params.nu", ".3")]


def test_rows_keep_the_order_of_their_numbers() -> None:
    rows = [(f"feature.{n}.name", f"f{n}") for n in (10, 2, 1)]
    assert [value for name, value in short(*rows) if name == "feature"] == [
        "f1:linear",
        "f2:linear",
        "f10:linear",
    ]


def test_the_fields_of_a_feature_become_its_text() -> None:
    row = [("feature.1.name", "position"), ("feature.1.form", "satu"), ("feature.1.weight", "-2")]
    assert short(*row, ("feature.1.rest", "k=2")) == [("q", "storm"), ("feature", "position:satu:-2:k=2")]
    assert short(("feature.0.name", "len"), ("feature.0.form", "log")) == [
        ("q", "storm"),
        ("feature", "len:log"),
    ]


def test_an_unticked_box_for_folding_is_an_argument() -> None:
    assert shorten([("q", "storm"), ("form", "2si")], Settings()) == [("q", "storm"), ("fold", "no")]


def test_the_other_ranking_always_names_its_model() -> None:
    assert short(("vs.form", "2si"), ("vs.model", "2si"), ("vs.params.mu", "9")) == [
        ("q", "storm"),
        ("vs.model", "2si"),
        ("vs.params.mu", "9"),
    ]


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=8))
def test_the_short_address_of_any_form_is_no_form(given: list[Pair]) -> None:
    found = shorten([*FORM, *given], Settings())
    assert found is not None and shorten(found, Settings()) is None


def test_the_fields_of_a_signal_become_its_text() -> None:
    row = [("rerank.0.name", "mrf_sdm"), ("rerank.0.weight", "2"), ("rerank.0.rest", "alpha=0.3")]
    assert short(*row) == [("q", "storm"), ("rerank", "mrf_sdm:2:alpha=0.3")]
    assert short(("rerank.0.name", ""), ("rerank.0.weight", "2")) == [("q", "storm")]


def test_the_default_depth_and_index_are_left_out() -> None:
    assert short(("rerank_depth", "1000")) == [("q", "storm")]
    assert short(("rerank_depth", "50")) == [("q", "storm"), ("rerank_depth", "50")]
    given = [*FORM, ("index", "news")]
    assert shorten(given, Settings(), "news") == [("q", "storm")]
    assert shorten(given, Settings(), "other") == [("q", "storm"), ("index", "news")]


ARGUMENTS = [
    ("q", "storm"),
    ("source", "a"),
    ("source", "b"),
    ("k", "10"),
    ("params.mu", "5"),
    ("vs.model", "jm"),
]


def test_some_arguments_can_be_changed() -> None:
    arguments = ARGUMENTS[:4]
    assert change_arguments(arguments, k="20") == [*arguments[:3], ("k", "20")]
    assert change_arguments(arguments, source=None) == [("q", "storm"), ("k", "10")]


def test_links_change_one_part_of_the_state(client: FlaskClient) -> None:
    links = Links(ARGUMENTS[:5])
    with client.application.test_request_context():
        assert links.with_value("source", "c & d").endswith("&source=c+%26+d")
        assert links.without_value("source", "a") == "/search?q=storm&source=b&k=10&params.mu=5"
        assert links.with_ranking({"model": "bm25"}) == "/search?q=storm&source=a&source=b&k=10&model=bm25"
        assert Links([]).to("home") == "/"


def test_each_side_of_a_comparison_links_to_its_own_search(client: FlaskClient) -> None:
    links = Links([("q", "storm"), *ARGUMENTS[4:]])
    with client.application.test_request_context():
        assert links.side(False).to() == "/search?q=storm&params.mu=5"
        assert links.side(True).to() == "/search?q=storm&model=jm"
        assert links.side(True).to("document", id="d/1") == "/document?q=storm&model=jm&id=d%2F1"


def test_a_value_is_toggled_beside_others_or_in_their_place() -> None:
    app = create_app(Searcher(FakeIndex()))
    with app.test_request_context():
        links = Links([("q", "a"), ("source", "x"), ("after", "2016"), ("before", "2018")])
        assert links.toggle({"source": "y"}, False) == "/search?q=a&source=x&after=2016&before=2018&source=y"
        assert links.toggle({"source": "x"}, True) == "/search?q=a&after=2016&before=2018"
        month = {"after": "2017-02", "before": "2017-03"}
        assert links.toggle(month, False) == "/search?q=a&source=x&after=2017-02&before=2017-03"


@pytest.mark.parametrize(
    "period, after, before, end",
    [
        ("2017", "2017-02-03", "2017-05", "2018-01-01"),
        ("2017-02", "2017-02-03", "2017-03-01", "2017-03-01"),
        ("2017-W14", "2017-W14", "2017-04-10", "2017-04-10"),
    ],
)
def test_a_link_to_a_period_keeps_within_the_days_of_the_page(
    period: str, after: str, before: str, end: str
) -> None:
    app = create_app(Searcher(FakeIndex()))
    with app.test_request_context():
        links = Links([("q", "a"), ("after", "2017-02-03"), ("before", "2017-05")])
        assert links.during("results", period) == f"/search?q=a&after={after}&before={before}"
        assert Links([("q", "a")]).during("results", period) == f"/search?q=a&after={period}&before={end}"


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.label)
def test_a_preset_is_a_ranking_that_can_be_read(preset: Preset) -> None:
    read_search(urlencode({"q": "storm", **preset.arguments}).encode(), Settings())


def test_a_preset_is_offered_only_where_sentences_have_its_feature() -> None:
    plain, full = available_presets(["position"]), available_presets(["position", "subj"])
    assert {p.label for p in full} - {p.label for p in plain} == {"Reports first", "Opinions first"}


@pytest.mark.parametrize(("label", "name"), [("Words and meaning", "hybrid"), ("Meaning", "meaning")])
def test_meaning_is_offered_where_sentences_have_vectors(label: str, name: str) -> None:
    labels = [preset.label for preset in available_presets(["position", VECTORS])]
    assert label in labels and labels[0] == "With context"
    assert label not in [preset.label for preset in available_presets(["position"])]
    (preset,) = (preset for preset in PRESETS if preset.label == label)
    query = urlencode({"q": "storm", **preset.arguments}).encode()
    assert read_search(query, Settings()).ranking.as_dict() == Ranking.from_file(name).as_dict()


def test_the_documented_arguments_of_the_api_are_those_of_hybrid() -> None:
    text = (Path(__file__).parents[3] / "docs" / "meaning.md").read_text()
    (query,) = re.findall(r"^  `(rerank=[^`]*)`", text, re.MULTILINE)
    assert (
        read_search(f"q=storm&{query}".encode(), Settings()).ranking.as_dict()
        == Ranking.from_file("hybrid").as_dict()
    )


def test_every_model_parameter_prior_and_form_of_the_registries_has_a_control() -> None:
    controls = ranking_controls([], ["subj"])
    assert [choice.model.name for choice in controls.models] == list(models.MODELS)
    for choice in controls.models:
        assert [c.parameter for c in choice.parameters] == list(choice.model.parameters)
    assert [p.prior for p in controls.priors] == list(PRIORS.values())
    assert [f.name for f in controls.forms] == [n for n, f in FORMS.items() if not f.is_trained]
    assert [c.value for c in controls.features] == ["len", "position", "subj"]


def test_the_controls_have_the_values_of_the_address() -> None:
    controls = ranking_controls([("model", "dir"), ("params.mu", "50"), ("prior.length", "2")], [])
    assert controls.model.model.name == "dir"
    assert [(c.name, c.value) for c in controls.model.parameters if c.value] == [("params.mu", "50")]
    assert controls.summary == ["ranked by dir", "mu 50", "prior length × 2"]


def test_the_controls_of_the_other_ranking_have_its_prefix() -> None:
    controls = ranking_controls([("model", "dir"), ("vs.model", "bm25"), ("vs.params.k1", "2")], [], "vs.")
    assert controls.model.model.name == "bm25"
    assert [c.name for c in controls.model.parameters if c.value] == ["vs.params.k1"]


def test_there_is_a_row_for_each_feature_and_an_empty_one() -> None:
    controls = ranking_controls([("feature", "position:satu:-0.5:k=2")], [])
    assert controls.feature_rows == [
        ControlRow("position", "satu", "-0.5", "k=2"),
        ControlRow("", "", "", ""),
    ]


def test_a_setting_without_a_control_becomes_a_checkbox() -> None:
    controls = ranking_controls([("params.nope", "1"), ("prior.nope", "2"), ("feature", "subj")], [])
    assert [(k.name, k.label) for k in controls.checkboxes] == [
        ("params.nope", "nope 1"),
        ("prior.nope", "prior nope × 2"),
        ("feature", "feature subj"),
    ]


def test_a_context_that_the_model_does_not_use_cannot_be_selected() -> None:
    assert not any(c.is_possible for c in ranking_controls([("model", "bm25")], []).contexts[1:])
    assert all(c.is_possible for c in ranking_controls([("model", "2si")], []).contexts)


def test_a_number_field_is_used_for_numbers_only() -> None:
    for value, is_number in (("50", True), ("", True), ("x", False), ("nan", False)):
        controls = ranking_controls([("model", "dir"), ("params.mu", value)], [])
        assert next(c for c in controls.model.parameters if c.parameter.name == "mu").is_number is is_number


def test_boosts_have_rows_and_unreadable_ones_checkboxes() -> None:
    controls = ranking_controls([("boost", "variants:0.3"), ("boost", "nonsense")], [])
    assert [tuple(row) for row in controls.boosts.rows] == [("variants", "", "0.3", ""), ("", "", "", "")]
    assert [(box.name, box.value) for box in controls.checkboxes] == [("boost", "nonsense")]
    assert "boost variants 0.3" in controls.summary


def test_signals_have_rows_and_unreadable_ones_checkboxes() -> None:
    controls = ranking_controls(
        [("rerank", "sdm:2:alpha=0.3"), ("rerank", "nonsense"), ("rerank_depth", "50")], []
    )
    assert [tuple(row) for row in controls.signals.rows] == [
        ("mrf_sdm", "", "2", "alpha=0.3"),
        ("", "", "", ""),
    ]
    assert [(box.name, box.value) for box in controls.checkboxes] == [("rerank", "nonsense")]
    assert "signal mrf_sdm 2" in controls.summary and "depth 50" in controls.summary


def test_what_needs_parses_or_vectors_is_offered_where_the_index_has_them() -> None:
    def offered(*stored: str, **arguments: str) -> tuple[set[str], set[str]]:
        controls = ranking_controls([*arguments.items()], [], stored=stored)
        models = {choice.model.name for choice in controls.models}
        return models & {"tdsr", "mrf_fidm", "mrf_sdm", "mrf_fdm"}, {
            s.name for s in controls.signals.available
        }

    everything = (
        {"tdsr", "mrf_fidm", "mrf_sdm", "mrf_fdm"},
        {"tdsr", "mrf_sdm", "mrf_fdm", "meaning", "freshness"},
    )
    assert offered("parse", "vectors") == everything
    assert offered("parse") == (everything[0], everything[1] - {"meaning"})
    assert offered("vectors") == ({"mrf_fidm"}, {"meaning", "freshness"})
    assert offered() == ({"mrf_fidm"}, {"freshness"})
    chosen = offered(model="tdsr", rerank="meaning:50")
    assert chosen == ({"mrf_fidm", "tdsr"}, {"meaning", "freshness"}), "a form holds its address"


@pytest.mark.parametrize(
    ("limits", "offered"),
    [
        (Settings(), ["10", "20", "50", "100"]),
        (Settings(default_k=10, max_k=20), ["10", "20"]),
        (Settings(default_k=25, max_k=60), ["25", "50"]),
    ],
)
def test_the_form_offers_numbers_of_sentences_that_the_server_allows(
    limits: Settings, offered: list[str]
) -> None:
    form = build_form([("q", "storm")], limits)
    assert [option.value for option in form.fields["k"].options] == offered
