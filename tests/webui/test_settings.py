from __future__ import annotations

from webui.settings import Settings


def test_every_setting_is_in_the_table_with_its_default_and_help() -> None:
    table = {row.name: row for row in Settings.table()}
    assert table["max_k"].default == Settings().max_k == 100
    assert table["query_chars"].default == 2_000
    assert all(row.help for row in table.values())
    assert set(table) == set(Settings.__dataclass_fields__)
