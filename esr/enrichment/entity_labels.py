"""What the models of spaCy call persons, places and organisations. All other labels are dropped.

Most models have the labels of OntoNotes (PERSON, GPE) or of Wikipedia (PER, LOC). No label means one thing in
one model and another thing in a second, so one table serves all.
"""

from __future__ import annotations

from collections.abc import Mapping

from esr.documents.annotation import LOCATION, ORGANIZATION, PERSON

_LABELS = {
    PERSON: """
        PERSON PER
        PS
        PRS
        persName
        Person
    """,
    LOCATION: """
        GPE LOC FAC
        FACILITY
        GPE_LOC
        LC
        geogName placeName
        City Country County GPE_Other Province
        Bay Continental_Region Domestic_Region Geological_Region_Other Island Lake Location_Other Mountain
        Region_Other River Sea Spa
        Airport Amusement_Park Archaeological_Place_Other Bridge Canal Car_Stop Facility_Other GOE_Other
        Line_Other Museum Park Port Railroad Road Sports_Facility Station Theater Tumulus Tunnel Water_Route
        Worship_Place Zoo
    """,
    ORGANIZATION: """
        ORG
        ORGANIZATION
        GPE_ORG
        OG
        orgName
        Company Company_Group Corporation_Other Organization_Other
        Cabinet Government International_Organization Military Political_Organization_Other Political_Party
        Pro_Sports_Organization Public_Institution Research_Institute School Show_Organization Sports_League
        Sports_Organization_Other
    """,
}
"""By type: the labels of OntoNotes and Wikipedia; of single models, as those of Korean, Norwegian, Polish,
Romanian and Swedish; and of ja_ginza, which has Sekine's extended named entities."""

ENTITY_TYPES: Mapping[str, str] = {
    label: type for type, labels in _LABELS.items() for label in labels.split()
}
