import pytest

from esr.evaluation.report.style import DARK, INK, PAPER, SERIES, shorten, spread_labels, style_of


def test_labels_that_are_far_apart_stay_in_place():
    assert spread_labels([0.9, 0.1, 0.5], 0.2, 0, 1) == pytest.approx([0.9, 0.1, 0.5])


def test_labels_that_are_too_close_are_moved_apart_in_order():
    positions = spread_labels([0.5, 0.52, 0.51], 0.1, 0, 1)
    assert positions == pytest.approx([0.41, 0.61, 0.51])


def test_labels_stay_within_the_limits():
    assert spread_labels([0.0, 0.0, 0.0], 0.1, 0, 1) == pytest.approx([0.0, 0.1, 0.2])
    assert spread_labels([1.0, 1.0], 0.1, 0, 1) == pytest.approx([0.9, 1.0])


def test_runs_beyond_the_colours_differ_in_their_dashes():
    styles = [style_of(position) for position in range(4 * len(SERIES))]
    assert len({str(style) for style in styles}) == len(styles)


def test_a_long_name_keeps_its_end():
    assert shorten("a" * 50 + ".run") == "…" + "a" * 31 + ".run"
    assert shorten("2si") == "2si"


def luminance(color):
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    dark, light = sorted([luminance(a), luminance(b)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("color", [*SERIES, INK])
def test_every_colour_is_legible_on_both_backgrounds(color):
    assert contrast(color, PAPER) >= 4.5
    assert contrast(DARK[color], DARK[PAPER]) >= 4.5
