"""Topics that must not be on both sides of a fold, since one gives the other away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from esr.learning.gather import TopicSignals

HALF = 0.5


def groups(topics: Sequence[TopicSignals], given: Mapping[str, str]) -> dict[str, str]:
    """A group for each topic: the given ones, and together what asks the same or has the same answer.

    Topics are in one group if they are given so, have the same words, or have half of all their relevant
    sentences in common; and so are all of two groups that a topic belongs to.
    """
    parent = {each.topic: each.topic for each in topics}

    def root(topic: str) -> str:
        while parent[topic] != topic:
            parent[topic] = topic = parent[parent[topic]]
        return topic

    for one, other in (*_asking_the_same(topics, given), *_with_one_answer(topics)):
        parent[root(other)] = root(one)
    return {topic: root(topic) for topic in parent}


def _asking_the_same(topics: Sequence[TopicSignals], given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    first: dict[tuple[str, str], str] = {}
    for each in topics:
        signs = [("words", " ".join(sorted(each.query.casefold().split())))]
        signs += [("given", given[each.topic])] if each.topic in given else []
        for sign in signs:
            yield first.setdefault(sign, each.topic), each.topic


def _with_one_answer(topics: Sequence[TopicSignals]) -> Iterator[tuple[str, str]]:
    """Pairs of topics that share at least half of the sentences that are relevant to either."""
    having: dict[str, list[TopicSignals]] = {}
    for each in topics:
        for sentence in each.grades_of:
            having.setdefault(sentence, []).append(each)
    for some in having.values():
        for n, one in enumerate(some):
            for other in some[n + 1 :]:
                both = one.grades_of.keys() & other.grades_of.keys()
                if len(both) >= HALF * len(one.grades_of.keys() | other.grades_of.keys()):
                    yield one.topic, other.topic
