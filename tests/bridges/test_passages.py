"""The retrievers of LangChain and LlamaIndex, called as these call them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, NamedTuple

import pytest

import esr
from tests.support.needed import need
from tests.support.processes import in_thread

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
