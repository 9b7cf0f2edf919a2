"""The entries are written after the export (WXR 1.2) and the REST interface of WordPress 6."""

import json

import pytest

from esr.loaders import ReadOptions, read_documents

ENTRY = """<item><title>{id}</title><guid isPermaLink="false">{id}</guid>
<content:encoded><![CDATA[<!-- wp:paragraph -->
<p>The ferry &amp; the bus.</p>]]></content:encoded>
<wp:post_password><![CDATA[{password}]]></wp:post_password>
<wp:status><![CDATA[{status}]]></wp:status><wp:post_type><![CDATA[{type}]]></wp:post_type></item>"""
EXPORT = """<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"
xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Blog</title>{}</channel></rss>"""
ENTRIES = [
    ("post", "publish", ""),
    ("page", "publish", ""),
    ("post", "draft", ""),
    ("post", "private", ""),
    ("post", "publish", "secret"),
    ("revision", "publish", ""),
    ("attachment", "publish", ""),
    ("nav_menu_item", "publish", ""),
    ("wp_global_styles", "publish", ""),
]
REASONS = [
    "not published in WordPress",
    "not published in WordPress",
    "protected by a password in WordPress",
    *["no post or page of WordPress"] * 4,
]


def written_export():
    entries = [
        ENTRY.format(id=f"e{n}", type=type, status=status, password=password)
        for n, (type, status, password) in enumerate(ENTRIES)
    ]
    return EXPORT.format("".join(entries))


def written_rest():
    return json.dumps(
        [
            {
                "id": f"e{n}",
                "type": type,
                "status": status,
                "title": {"rendered": "The sea"},
                "content": {"rendered": "<p>The ferry &amp; the bus.</p>", "protected": bool(password)},
            }
            for n, (type, status, password) in enumerate(ENTRIES)
        ]
    )


@pytest.mark.parametrize(("name", "written"), [("x.rss", written_export), ("x.json", written_rest)])
def test_only_published_posts_and_pages_of_wordpress_are_read(tmp_path, name, written):
    (tmp_path / name).write_text(written())
    skipped = []
    documents = read_documents([str(tmp_path / name)], options=ReadOptions(on_skipped=skipped.append))
    read = {located.document.id: [s.text for s in located.document.sentences] for located in documents}
    assert read == {"e0": ["The ferry & the bus."], "e1": ["The ferry & the bus."]}
    assert [s.reason for s in skipped] == REASONS and all(s.is_lasting for s in skipped)


def test_an_object_with_a_type_and_a_status_of_its_own_is_no_entry_of_wordpress(tmp_path):
    line = {"id": "a", "type": "article", "status": "final", "content": "The ferry sails."}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    assert len(list(read_documents([str(tmp_path)]))) == 1
