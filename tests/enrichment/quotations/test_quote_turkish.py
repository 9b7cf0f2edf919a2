"""Speakers in Turkish news: before a quotation, whose verb is behind it."""

from __future__ import annotations

import pytest

from tests.support.found_quotes import find_in_text

BRIDGE = '"Köprü bu kış kapalı olacak,"'


def speakers(text: str) -> list[str | None]:
    """The speaker of each quotation of two words or more."""
    return [quote.speaker for quoted, quote in find_in_text(text, "tr") if len(quoted.split()) > 1]


@pytest.mark.parametrize(
    "verb",
    [
        "ifadelerini kullandı",
        "yorumunda bulundu",
        "açıklamasını yaptı",
        "vaadinde bulunmuştu",
        "diye konuştu",
    ],
)
def test_a_turkish_verb_may_have_a_noun(verb: str) -> None:
    assert speakers(f"Roberto Calzadilla {BRIDGE} {verb}.") == ["Roberto Calzadilla"]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ('Deniz Kaya köprünün "bütün kış boyunca" kapalı olacağını söyledi.', "Deniz Kaya"),
        ('Daley, yarıştan sonra "bütün bakış açısının" değiştiğini söyledi.', "Daley"),
        ('Kaya köprünün "kapalı" olduğunu ve "çok eski göründüğünü" savunuyor.', "Kaya"),
        ('Kaya planı "çok kötü bir şaka" olarak tanımladı.', "Kaya"),
    ],
)
def test_a_part_of_what_a_turkish_verb_reports_is_a_quotation(text: str, speaker: str) -> None:
    assert speakers(text)[-1] == speaker


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        (f"Trump kampanyası için çalışan bir sözcü Reuters'a {BRIDGE} dedi.", "sözcü"),
        (f"Bolivyalı diplomat Roberto Calzadilla konuyla ilgili olarak {BRIDGE} dedi.", "Roberto Calzadilla"),
        (f"Donald Trump taklitçisi John Di Domenico geçen sene {BRIDGE} dedi.", "John Di Domenico"),
        (f"Hack Forums'ın kurucusu Jesse Kaya bir mesajda {BRIDGE} dedi.", "Jesse Kaya"),
        (
            f"Washington'da çıkan habere göre, Karine Pierre cuma günü {BRIDGE} dedi.",
            "Karine Pierre",
        ),
        (f"Variety'ye göre, West yuhalandı, çevreden bir kişi basına {BRIDGE} dedi.", "kişi"),
        (f"Çift evlendi. Daley, düğünden sonra {BRIDGE} dedi.", "Daley"),
        (f"Luke Armitage, bu tasarımlarla ilgili olarak şunları söyledi: {BRIDGE}", "Luke Armitage"),
        (f"Bir hükümet sözcüsü şunları söyledi: {BRIDGE}", "sözcüsü"),
        (f"{BRIDGE} diyen Zinke, planı eleştirdi.", "Zinke"),
    ],
)
def test_a_turkish_speaker_is_not_the_owner_of_a_noun(text: str, speaker: str) -> None:
    assert speakers(text) == [speaker]
