"""The tables of a desk: what they refuse, and that no query reads the dossiers of all people."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sql

from esr.dossiers import tables
from esr.dossiers.desk import Desk
from esr.dossiers.links import ReadingLinks
from esr.dossiers.records import Content, Edit, Person
from esr.dossiers.saved_searches import SavedSearches
from esr.dossiers.store import Dossiers
from tests.support.desk_tables import check_rows, noting_scans, noting_steps

ANN, BOB = Person("ann"), Person("bob", frozenset({"politics"}))


@pytest.mark.parametrize("table", tables.METADATA.sorted_tables, ids=str)
def test_a_table_has_no_row_twice_and_none_without_a_value(table: sql.Table) -> None:
    check_rows(table)


def test_no_query_of_a_person_reads_a_whole_table(tmp_path: Path) -> None:
    with Desk(str(tmp_path / "desk")) as desk, noting_scans() as scans:
        dossiers, links, searches = Dossiers(desk), ReadingLinks(desk), SavedSearches(desk)
        id = dossiers.create(ANN, "Floods").id
        (item,) = dossiers.add(ANN, id, [Content(document_id="a", sentence_id="a.s0", text="Rain.")]).items
        dossiers.share(ANN, id, "politics", "writer", is_group=True)
        dossiers.edit(BOB, id, item.id, Edit(note="wet"))
        dossiers.list_readable(BOB)
        dossiers.history(ANN, id)
        dossiers.find_holding(ANN, ["a.s0", "a"])
        link = links.make(ANN, id)
        links.read(link.token)
        links.list_links(ANN, id)
        links.revoke(ANN, id, link.id)
        search = searches.create(ANN, "storms", {"q": ("storm",)})
        searches.share(ANN, search.id, "politics", "reader", is_group=True)
        searches.list_readable(BOB)
        searches.change(ANN, search.id, name="Storms")
        searches.delete(ANN, search.id)
        dossiers.remove(ANN, id, [item.id])
        dossiers.delete(ANN, id)
        dossiers.list_readable(ANN, is_deleted=True)
        dossiers.erase(ANN, id)
    assert not scans


def test_a_document_is_looked_up_by_its_id_and_not_among_all_documents(tmp_path: Path) -> None:
    with Desk(str(tmp_path / "desk")) as desk, noting_steps() as steps:
        Dossiers(desk).find_holding(ANN, ["a.s0", "a"])
    indices = {step.split()[4]: step.split()[-1] for step, _ in steps if step.startswith("SEARCH holdings")}
    assert indices == {
        "ix_holdings_sentence_id": "(sentence_id=?)",
        "ix_holdings_document_id": "(document_id=?)",
    }
