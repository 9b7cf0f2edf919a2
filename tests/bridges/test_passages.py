"""The retrievers of LangChain and LlamaIndex, called as these call them, and the programs of the docs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import esr
from esr.ranking.ranking import Ranking
from tests.cli.conftest import call
from tests.support.processes import in_thread
from tests.support.runs import need

pytestmark = pytest.mark.slow

QUESTION = 'What relief came to "China after the earthquake?'


class Found(NamedTuple):
    """What both retrievers give of a sentence, in common."""

    id: str
    text: str
    metadata: dict[str, Any]
    score: float


Find = Callable[..., list[Found]]


def _result(awaited: Coroutine[Any, Any, Any]) -> Any:
    return in_thread(asyncio.run, awaited)


def with_langchain(index: Any, question: str, *, is_async: bool = False, **options: Any) -> list[Found]:
    bridge = need("esr.bridges.langchain")
    own = {name: options.pop(name) for name in ("k", "window") if name in options}
    retriever = bridge.SentenceRetriever(index=index, options=options, **own)
    documents = _result(retriever.ainvoke(question)) if is_async else retriever.invoke(question)
    return [Found(d.id, d.page_content, d.metadata, d.metadata.pop("score")) for d in documents]


def with_llama_index(index: Any, question: str, *, is_async: bool = False, **options: Any) -> list[Found]:
    bridge = need("esr.bridges.llama_index")
    retriever = bridge.SentenceRetriever(index, **options)
    nodes = _result(retriever.aretrieve(question)) if is_async else retriever.retrieve(question)
    return [Found(n.node.node_id, n.node.get_content(), n.node.metadata, n.score) for n in nodes]


@pytest.fixture(params=[with_langchain, with_llama_index])
def find(request: pytest.FixtureRequest) -> Find:
    chosen: Find = request.param
    return chosen


@pytest.fixture(scope="module")
def index(where: str) -> Iterator[Any]:
    with esr.open(where) as opened:
        yield opened


@pytest.mark.parametrize("is_async", [False, True])
def test_passages_are_sentences_with_neighbours_and_what_an_answer_cites(
    find: Find, index: Any, is_async: bool
) -> None:
    passages = find(index, QUESTION, k=3, is_async=is_async)
    hits = index.search(QUESTION, 3, fold=True, literal=True)
    assert [passage.id for passage in passages] == [hit.id for hit in hits]
    for passage, hit in zip(passages, hits, strict=True):
        assert passage.score == hit.score
        assert passage.text == " ".join(filter(None, (hit.previous, hit.text, hit.next)))
        known = {name: getattr(hit, name) for name in ("id", "document_id", "title", "date", "source", "url")}
        assert passage.metadata.pop("citation").startswith(f"“{hit.title}”, {hit.source}, ")
        assert passage.metadata == {name: v for name, v in known.items() if v} | {"sentence": hit.text}


def test_no_sentence_is_in_two_passages(find: Find, index: Any) -> None:
    passages = find(index, QUESTION, k=20, window=2)
    hits = index.search(QUESTION, 20, fold=True, literal=True)
    ids = [id for passage in passages for id in (passage.id, *passage.metadata.get("other_ids", ()))]
    assert sorted(ids) == sorted(hit.id for hit in hits)
    assert len(passages) < len(hits)
    for passage in passages:
        texts = [sentence.text for sentence in index.document(passage.metadata["document_id"]).sentences]
        assert passage.text in " ".join(texts)
        own = [hit for hit in hits if hit.id in (passage.id, *passage.metadata.get("other_ids", ()))]
        assert own[0].id == passage.id and own[0].text == passage.metadata["sentence"]
        for other in passages:
            if other is not passage and other.metadata["document_id"] == passage.metadata["document_id"]:
                assert not [text for text in texts if text in other.text and text in passage.text]


def test_the_window_and_the_options_of_a_search_are_kept(find: Find, index: Any) -> None:
    passages = find(index, QUESTION, window=0, source="Northern Wire", model="bm25")
    hits = index.search(QUESTION, 10, fold=True, literal=True, source="Northern Wire", model="bm25")
    assert [(p.text, p.score) for p in passages] == [(hit.text, hit.score) for hit in hits]
    (wide,) = find(index, "magnitude depth", k=1, window=2)
    assert wide.text.count(". ") >= 3


def test_a_sentence_that_repeats_another_is_no_second_passage(find: Find, index: Any) -> None:
    passages = find(index, QUESTION, k=20, window=0)
    assert len({passage.text for passage in passages}) == len(passages)
    assert len({hit.text for hit in index.search(QUESTION, 20, literal=True)}) < 20


def test_a_question_without_words_to_search_for_has_no_passages(find: Find, index: Any) -> None:
    assert find(index, "What is it?") == find(index, "") == []


def test_a_wrong_option_is_one_message(find: Find, index: Any) -> None:
    with pytest.raises(esr.UsageError, match="unknown option 'sorce': did you mean 'source'"):
        find(index, QUESTION, sorce="x")


def test_a_filter_beside_the_options_of_langchain_is_refused(index: Any) -> None:
    with pytest.raises(ValueError, match=r"after\n.*not permitted"):
        need("esr.bridges.langchain").SentenceRetriever(index=index, after="2024")


ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bridges.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the index of the page, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    assert call("load", ROOT / "examples" / "articles.jsonl", "--index", "my-index").exit_code == 0
    return tmp_path


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_the_programs_run(program: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("pandas", "pyterrier", "langchain_core", "llama_index"):
        need(module)
    in_thread(exec, program, {})
    assert re.search(r"Two towns were cut off\.|Northern Wire", capsys.readouterr().out)


def test_the_answer_is_that_of_the_server(folder: Path) -> None:
    server = need("esr.bridges.mcp_server")
    (shown,) = re.findall(r'^\{"total".*$', PAGE, re.MULTILINE)
    with esr.open("my-index") as index:
        tools = server.build_server(index, Ranking())
        call_tool = tools.call_tool("search", {"query": "relief funds China", "budget": 900})
        result = in_thread(asyncio.run, call_tool)
    assert json.loads(result.content[0].text) == json.loads(shown)
