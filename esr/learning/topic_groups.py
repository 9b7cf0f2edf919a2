"""Groups of topics that must be in the same fold, because one reveals the answers of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from esr.learning.topic_signals import TopicSignals

MIN_OVERLAP = 0.5


def group_topics(topics: Sequence[TopicSignals], explicit_groups: Mapping[str, str]) -> dict[str, str]:
    """A group for each topic.

    Topics are in the same group if they have the same explicit group, the same words, or half of all their
    relevant sentences in common. Groups with a common topic are merged.
    """
    parent = {topic.topic: topic.topic for topic in topics}

    def find_root(topic: str) -> str:
        while parent[topic] != topic:
            parent[topic] = topic = parent[parent[topic]]
        return topic

    for a, b in (*_pair_by_label(topics, explicit_groups), *_pair_by_relevant(topics)):
        parent[find_root(b)] = find_root(a)
    return {topic: find_root(topic) for topic in parent}


def _pair_by_label(
    topics: Sequence[TopicSignals], explicit_groups: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Pairs of topics with the same words or the same explicit group."""
    first_topics: dict[tuple[str, str], str] = {}
    for topic in topics:
        labels = [("words", " ".join(sorted(topic.query.casefold().split())))]
        labels += [("group", explicit_groups[topic.topic])] if topic.topic in explicit_groups else []
        for label in labels:
            yield first_topics.setdefault(label, topic.topic), topic.topic


def _pair_by_relevant(topics: Sequence[TopicSignals]) -> Iterator[tuple[str, str]]:
    """Pairs of topics that share at least half of the sentences that are relevant to either."""
    by_sentence: dict[str, list[TopicSignals]] = {}
    for topic in topics:
        for sentence in topic.judgements:
            by_sentence.setdefault(sentence, []).append(topic)
    for sharing in by_sentence.values():
        for n, a in enumerate(sharing):
            for b in sharing[n + 1 :]:
                common = a.judgements.keys() & b.judgements.keys()
                if len(common) >= MIN_OVERLAP * len(a.judgements.keys() | b.judgements.keys()):
                    yield a.topic, b.topic
