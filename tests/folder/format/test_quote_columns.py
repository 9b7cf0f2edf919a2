"""Layers of quotations, with and without the certainty of their speakers."""

from __future__ import annotations

import numpy as np

from esr.folder.format.quote_columns import LayerQuotes, encode_quotes, merge_quotes
from esr.text.document import CERTAIN, PROBABLE, Quote

OLD = [(Quote(0, 3, "Lee", "ann lee", "said"),), ()]
NEW = [
    (Quote(0, 2, "Lee", "ann lee", None, PROBABLE), Quote(3, 5, "Day")),
    (Quote(0, 4, "Ann Lee", "ann lee", "said", CERTAIN),),
]


def test_a_layer_of_before_has_no_column_and_an_unknown_certainty() -> None:
    old = encode_quotes(OLD)
    assert "quote.certainty" not in old, "it is the layer of earlier versions"
    layer = LayerQuotes(old)
    assert layer.read(np.arange(2)) == OLD
    assert layer.said_by(["ann lee"], probable=False).tolist() == [True, False]


def test_merged_and_selected_layers_keep_what_is_known() -> None:
    merged = merge_quotes([LayerQuotes(encode_quotes(OLD)), LayerQuotes(encode_quotes(NEW))])
    expected = encode_quotes([*OLD, *NEW])
    assert {name: array.tolist() for name, array in merged.items()} == {
        name: array.tolist() for name, array in expected.items()
    }
    layer = LayerQuotes(merged)
    assert layer.read(np.arange(4)) == [*OLD, *NEW]
    assert layer.said_by(["ann lee"], probable=False).tolist() == [True, False, False, True]
    assert layer.said_by(["ann lee"]).tolist() == [True, False, True, True]
    rest = layer.select(np.array([True, True, False, False]))
    assert "quote.certainty" not in rest and LayerQuotes(rest).read(np.arange(2)) == OLD
