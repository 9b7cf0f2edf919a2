"""The parity of both engines on the servers besides the newest Elasticsearch, each started once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import without_node
from tests.support.base import NoNode
from tests.support.node import URL_VARIABLE
from tests.support.runs import IS_LONG
from tests.support.servers import OPENSEARCH, SERVERS, start_server
from tests.support.stored_indices import KIND_VARIABLE

pytestmark = pytest.mark.elasticsearch

IN_EACH_CHANGE = (
    "tests/index/test_parity.py",
    "tests/index/test_meaning_parity.py",
    "tests/index/test_enrichment_parity.py::test_both_engines_store_what_the_enricher_returned",
    "tests/index/test_enrichment_parity.py::test_facets_count_the_same_on_both",
    "tests/elastic/write/test_broken_generations.py::test_a_killed_load_can_be_repeated_or_resumed",
    "tests/index/test_generations.py::test_a_rollback_serves_the_previous_generation_and_can_be_undone",
    "tests/index/test_generations.py::test_an_append_is_a_generation_that_can_be_rolled_back",
    "tests/index/test_stored_indices.py",
)
"""Models, statistics, explanations, 500 queries; vectors; enrichment; a load that is killed, repeated and
resumed; a rollback and an append; indices of earlier versions.
"""
MORE = (
    "tests/index/test_attribute_filters.py",
    "tests/index/test_language.py",
    "tests/clients/test_clients.py::test_a_client_ranks_as_esr_does",
    "tests/clients/test_clients.py::test_a_client_makes_the_request_of_esr_query",
    "tests/clients/test_clients.py::test_an_index_stores_what_esr_query_prints_as_slots",
    "tests/clients/test_clients.py::test_a_client_takes_the_request_of_another_ranking",
    "tests/clients/test_clients.py::test_filters_let_through_what_those_of_esr_do",
    "tests/clients/test_clients.py::test_highlights_are_the_words_that_match",
    "tests/elastic/test_dashboards.py",
    "tests/index/test_migration.py::test_a_migration_retains_enrichment",
    "tests/index/test_names.py",
    "tests/corpus",
)
"""Metadata; languages; the clients; dashboards; a migration; names, quotations, the words around words."""


IN_SHORT = "not anew and not 1-shard"
"""A killed load is resumed only. Half of the cases are tried, with three shards: each pair of values."""


@pytest.mark.parametrize("server", SERVERS)
def test_both_engines_give_the_same_answers_on_every_server(server: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["-m", "elasticsearch and (servers or not endurance)", *IN_EACH_CHANGE]
    command += MORE if IS_LONG else ("-k", IN_SHORT)
    kind = "opensearch" if server in OPENSEARCH else "elasticsearch"
    try:
        with start_server(server) as url:
            done = subprocess.run(
                command,
                env={**os.environ, URL_VARIABLE: url, KIND_VARIABLE: kind},
                capture_output=True,
                text=True,
                check=False,
            )
    except NoNode as error:
        without_node(str(error))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "skipped" not in done.stdout.splitlines()[-1]
