"""What searches compute most, compiled by numba: documents' bounds, and the sentences of the best of them.

It chooses: sentences whose value is within rounding of the k best are handed out, and
`esr.plans.evaluate` sums up their scores from the evidence that `lookup.py` makes. The values come from the
same formulas, with one logarithm for several terms. Types are fixed, and all is compiled when this module is
imported, or read from numba's cache. Nothing holds the interpreter's lock. One call sees all segments: their
columns come as addresses.
"""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.layout import (
    AROUND,
    BACKGROUND,
    DOCUMENTS,
    EMPTY,
    ENTRIES,
    ENTRY_COUNTS,
    FIRST,
    HERE,
    LENGTHS,
    LOGARITHM,
    LONGEST,
    MIXTURE,
    NEAR,
    OWN,
    ROW_COUNTS,
    ROWS,
    SENTENCES,
    SHORTEST,
    SIZE,
    TERMS,
    WEIGHT,
    WHOLE,
    WIDE,
)
from esr.engines.embedded.search.lookup import evidence, holding
from esr.engines.embedded.search.machine import (
    DOUBLE,
    DOUBLE_TABLE,
    DOUBLES,
    FLAG,
    FLAGS,
    FLOATS,
    INTS,
    LONG,
    LONG_CUBE,
    LONG_TABLE,
    LONGS,
    OUT,
    OUT_FLAGS,
    OUT_INTS,
    RECORDS,
    alone,
    at_place,
    compiled,
    first_from,
    inlined,
    number_at,
)

__all__ = ["descend", "evidence", "holding"]

GREAT = 1e100
"""A product of evidence beyond it is turned to a logarithm before it becomes infinite."""
BUCKETS, SAMPLE = 256, 4096
"""Where the best bounds begin is told from so many buckets, of so many bounds at least."""


@inlined
def _sink(keys, places, at, size):
    """Let an element sink in a heap whose first is the greatest."""
    key, place = keys[at], places[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[at], places[at] = keys[child], places[child]
        at = child
    keys[at], places[at] = key, place


@inlined
def _enter(top, value):
    """Put a value in the place of the least of the k best, which stands first."""
    at, size = 0, len(top)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and top[child + 1] < top[child]:
            child += 1
        if top[child] >= value:
            break
        top[at] = top[child]
        at = child
    top[at] = value


@inlined
def _floor(keys, size, lowest, highest, wanted):
    """A number that about so many of the keys reach."""
    if size <= wanted or not highest > lowest:
        return lowest
    buckets = np.zeros(BUCKETS, np.int64)
    scale = (BUCKETS - 1) / (highest - lowest)
    step = 1 + size // SAMPLE
    for n in range(0, size, step):
        buckets[int((keys[n] - lowest) * scale)] += step
    bucket, above = BUCKETS - 1, buckets[BUCKETS - 1]
    while above < wanted and bucket > 0:
        bucket -= 1
        above += buckets[bucket]
    return lowest + bucket / scale


@inlined
def _bent(shape, k1, x):
    """The saturation's curve."""
    if x <= 0:
        return 0.0
    return np.log1p(x) if shape == LOGARITHM else (k1 + 1.0) * x / (k1 + x)


@inlined
def _elsewhere(shape, transform, weight, background, own, base, lengths, short, long, whole, present, m):
    """What sentences of a document have at most that have no term in or beside them."""
    if shape != MIXTURE:
        total = 0.0
        for n in range(m):
            total += weight[present[n]] * _bent(shape, transform[0], whole[present[n]])
        return total
    total, rising, falling = base[0], base[1], base[2]
    for n in range(m):
        t = present[n]
        first = weight[t] * np.log(1.0 + lengths[short, WIDE] * whole[t] / background[t])
        last = weight[t] * np.log(1.0 + lengths[long, WIDE] * whole[t] / background[t])
        if own[t]:
            first += weight[t] * lengths[short, EMPTY]
            last += weight[t] * lengths[long, EMPTY]
            rising, falling = rising - max(weight[t], 0.0), falling - min(weight[t], 0.0)
        total += max(first, last)
    total += rising * max(lengths[short, EMPTY], lengths[long, EMPTY])
    return total + falling * min(lengths[short, EMPTY], lengths[long, EMPTY])


@inlined
def _value(
    shape, transform, weight, background, base, lengths, length, around, counts, at, whole, present, m
):  # fmt: skip
    """What a sentence has. Its counts stand from `at` on, its neighbours' beside; at 0 there are none."""
    terms = len(weight)
    if shape == MIXTURE:
        total, product = base[0] + (base[1] + base[2]) * lengths[length, EMPTY], 1.0
        here, wide = lengths[length, HERE], lengths[length, WIDE]
        near = lengths[length, NEAR] / max(around, 1)
        for n in range(m):
            t = present[n]
            x = wide * whole[t]
            if at > 0:
                count = counts[at + t]
                x += here * count + near * (counts[at - terms + t] + count + counts[at + terms + t])
            x = 1.0 + x / background[t]
            if weight[t] == 1.0 and x < GREAT:
                product *= x
                if product > GREAT:
                    total += np.log(product)
                    product = 1.0
            else:
                total += weight[t] * np.log(x)
        return total + np.log(product)
    total = 0.0
    norm = 1.0 - transform[2] + transform[2] * length / transform[3]
    here = transform[1] / (norm if norm > 0 else 1.0)
    norm = 1.0 - transform[5] + transform[5] * around / transform[6]
    near = transform[4] / (norm if norm > 0 else 1.0)
    for n in range(m):
        t = present[n]
        x = whole[t]
        if at > 0:
            count = counts[at + t]
            x += here * count + near * (counts[at - terms + t] + count + counts[at + terms + t])
        total += weight[t] * _bent(shape, transform[0], x)
    return total


@inlined
def _reached(
    segments, g, weight, own, all_own, base, impacts, starts, cuts, bounds, reached, places, found
):  # fmt: skip
    """Add up the impacts of a segment's documents. Those that have any are put to `places`."""
    entries, width, shift = segments[g, ENTRIES], segments[g, ENTRIES + 1], segments[g, DOCUMENTS]
    for t in range(len(weight)):
        impact, w, empty = starts[t], weight[t], base[0]
        for i in range(cuts[t, g, 2], cuts[t, g, 3]):
            d = shift + number_at(entries, width, i)
            # No branch: whether a document has a bound already is hard to foresee.
            bound = bounds[d]
            fresh = bound == -np.inf
            places[found] = d
            found += fresh
            bounds[d] = (empty if fresh else bound) + w * impacts[impact]
            impact += 1
        if not all_own:
            for i in range(cuts[t, g, 2], cuts[t, g, 3]):
                reached[shift + number_at(entries, width, i)] |= own[t]
        starts[t] = impact
    return found


@inlined
def _bounded(
    found, rule, every, all_own, slack, base, records, sizes, high, low, most, adds, gaps, passing,
    bounds, reached, keys, places, top,
):  # fmt: skip
    """The bounds of the documents in `places` that may have candidates, packed into `keys`.

    All candidates, where these are whole documents; how many bounds there are; and one that about k of them
    reach.
    """
    sentences, size, lowest, highest = 0, 0, np.inf, -np.inf
    if all_own and not gaps and len(passing) == 0 and len(most) == 0 and base[2] == 0:
        # The usual search: nothing keeps a document out.
        rising = base[1]
        for n in range(found):
            d = places[n]
            bound = bounds[d] + slack + rising * high[d]
            bounds[d] = -np.inf
            sentences += sizes[d]
            keys[n] = bound
            lowest, highest = min(lowest, bound), max(highest, bound)
        return sentences, found, _floor(keys, found, lowest, highest, len(top) + 16)
    for n in range(found):
        d = places[n]
        bound = bounds[d] + slack
        bounds[d] = -np.inf
        there = len(passing) == 0 or passing[d]
        if not all_own:
            there &= reached[d] or every
            reached[d] = False
        if not there:
            continue
        if rule == WHOLE:
            sentences += sizes[d]
            if gaps:
                for s in range(records[d, FIRST], records[d, FIRST] + records[d, SIZE]):
                    sentences -= adds[s] == -np.inf
        if base[1] > 0:
            bound += base[1] * high[d]
        if base[2] < 0:
            bound += base[2] * low[d]
        if len(most):
            bound += most[d]
        if bound > -np.inf:
            keys[size], places[size] = bound, d
            size += 1
            lowest, highest = min(lowest, bound), max(highest, bound)
    return sentences, size, _floor(keys, size, lowest, highest, len(top) + 16)


@inlined
def _laid(segments, g, cuts, shape, transform, records, d, local, whole, present, counts, near):
    """Lay out a document: the terms that are `present`, what it gives for each (`whole`: c(t,d)/c(d), or its
    part of the saturation), and their `counts` sentence after sentence from the place 1 on. `near` are the
    places with a term in or beside them. Gives how many terms are present, and the last such place."""
    terms, m, last = len(whole), 0, 0
    first, count = records[d, FIRST] - segments[g, SENTENCES], records[d, SIZE]
    for t in range(terms):
        entry = first_from(segments, g, ENTRIES, cuts[t, g, 2], cuts[t, g, 3], local)
        if entry == cuts[t, g, 3] or at_place(segments, g, ENTRIES, entry) != local:
            continue
        present[m] = t
        m += 1
        whole[t] = at_place(segments, g, ENTRY_COUNTS, entry)
        if shape == MIXTURE:
            whole[t] /= max(records[d, TERMS], 1)
        else:
            norm = 1.0 - transform[8] + transform[8] * records[d, TERMS] / transform[9]
            whole[t] *= transform[7] / (norm if norm > 0 else 1.0)
        row = first_from(segments, g, ROWS, cuts[t, g, 0], cuts[t, g, 1], first)
        while row < cuts[t, g, 1] and at_place(segments, g, ROWS, row) < first + count:
            place = at_place(segments, g, ROWS, row) - first + 1
            counts[place * terms + t] = at_place(segments, g, ROW_COUNTS, row)
            near[place - 1] = near[place] = near[place + 1] = True
            last = max(last, place + 1)
            row += 1
    return m, last


@inlined
def _candidate(rule, chosen, own, counts, at, s):
    """Whether the filters or the rule take a sentence of a document that they reach."""
    if len(chosen) > 0:
        return chosen[s]
    if rule == WHOLE:
        return True
    terms = len(own)
    for t in range(terms):
        if own[t]:
            count = counts[at + t]
            if rule == AROUND:
                count += counts[at - terms + t] + counts[at + terms + t]
            if count > 0:
                return True
    return False


@alone
def _visited(
    shape, rule, slack, transform, weight, background, own, base, cuts, segments, owners, records,
    lengths, most, adds, chosen, d, whole, present, counts, near, numbers, values, used, top,
):  # fmt: skip
    """Value the sentences of a document. Those that may be among the k best are added to `numbers`.

    Gives how many are there now, and how many sentences were valued. `counts` (0) and `near` (False) are left
    as they came.
    """
    terms, valued, g = len(weight), 0, 0
    while owners[g + 1] <= d:
        g += 1
    m, last = _laid(
        segments, g, cuts, shape, transform, records, d, d - owners[g], whole, present, counts, near
    )  # fmt: skip
    begin, count = records[d, FIRST], records[d, SIZE]
    rest = rule == WHOLE or len(chosen) > 0
    if rest:
        # Far from the terms, a sentence has what the document and its length give.
        cap = slack + _elsewhere(
            shape, transform, weight, background, own, base, lengths, records[d, SHORTEST],
            records[d, LONGEST], whole, present, m,
        )  # fmt: skip
        rest = cap + (most[d] if len(most) else 0.0) >= top[0]
    for place in range(1, (count if rest else min(last, count)) + 1):
        if not (near[place] or rest):
            continue
        s, local = begin + place - 1, begin + place - 1 - segments[g, SENTENCES]
        if not _candidate(rule, chosen, own, counts, place * terms, s):
            continue
        value = slack
        if len(adds):
            value += adds[s]
            if value == -np.inf:
                continue
        length = around = at_place(segments, g, LENGTHS, local)
        if place > 1:
            around += at_place(segments, g, LENGTHS, local - 1)
        if place < count:
            around += at_place(segments, g, LENGTHS, local + 1)
        value += _value(
            shape, transform, weight, background, base, lengths, length, around, counts,
            place * terms if near[place] else 0, whole, present, m,
        )  # fmt: skip
        valued += 1
        if value >= top[0]:
            numbers[used], values[used] = s, value
            used += 1
            if value - slack > top[0]:
                _enter(top, value - slack)
    for place in range(last + 1):
        if near[place]:
            near[place] = False
            for t in range(terms):
                counts[place * terms + t] = 0.0
    return used, valued


@inlined
def _kept(numbers, values, used, least, room):
    """Room for some more, by leaving out what is below the least, and if that gives little by growing."""
    kept = 0
    for n in range(used):
        if values[n] >= least:
            numbers[kept], values[kept] = numbers[n], values[n]
            kept += 1
    if 2 * kept + room > len(numbers):
        size = 2 * len(numbers) + room
        more, more_values = np.empty(size, np.int64), np.empty(size)
        more[:kept], more_values[:kept] = numbers[:kept], values[:kept]
        return more, more_values, kept
    return numbers, values, kept


@compiled(
    LONG, LONG, FLAG, DOUBLE, DOUBLES, DOUBLE_TABLE, DOUBLES, FLOATS, LONGS, LONG_CUBE, LONG_TABLE, LONGS,
    RECORDS, INTS, DOUBLE_TABLE, FLOATS, FLOATS, DOUBLES, FLOATS, FLAG, FLAGS, FLAGS,
    OUT, OUT_FLAGS, OUT, OUT_INTS, OUT,
)  # fmt: skip
def descend(
    shape, rule, every, slack, transform, table, base, impacts, first_impacts, cuts, segments, owners,
    records, sizes, lengths, high, low, most, adds, gaps, passing, chosen,
    bounds, reached, keys, places, top,
):  # fmt: skip
    """The sentences that may be among the k best, in no order.

    Gives these; how many candidates there are, if these are whole documents; how many sentences were valued.

    Of the plan: `table` and `cuts` (of shape (T, segments, 4): a term's first and last place in the postings
    of sentences, then of documents), `impacts` and where each term's begin, `base`, `lengths`, `high` and
    `low` (`Bound.ends`). Of the commit: `segments`, `owners` (the first document of each), `records` and
    `sizes`. `most` and `adds` (what statics add in documents, in sentences), `passing` (documents) and
    `chosen` (sentences) may be empty; there are `gaps` if some sentences have no value. Written to: `bounds`
    (-inf) and `reached` (False), left as they came, `keys`, `places` (one longer), and `top`, k times -inf, a
    heap of the k best values.
    """
    terms, all_own = len(table), not every
    weight, background, own = np.empty(terms), np.empty(terms), np.empty(terms, np.bool_)
    for t in range(terms):
        weight[t], background[t], own[t] = table[t, WEIGHT], table[t, BACKGROUND], table[t, OWN] > 0
        all_own &= own[t]
    found, starts = 0, first_impacts.copy()
    for g in range(len(segments)):
        found = _reached(
            segments, g, weight, own, all_own, base, impacts, starts, cuts, bounds, reached, places, found
        )  # fmt: skip
    if every:
        for d in range(len(records)):
            if bounds[d] == -np.inf:
                bounds[d] = base[0]
                places[found] = d
                found += 1
    total, size, floor = _bounded(
        found, rule, every, all_own, slack, base, records, sizes, high, low, most, adds, gaps, passing,
        bounds, reached, keys, places, top,
    )  # fmt: skip
    whole, present = np.zeros(terms), np.zeros(terms, np.int64)
    counts, near = np.zeros(64 * terms), np.zeros(64, np.bool_)
    numbers, values = np.empty(256, np.int64), np.empty(256)
    used, valued, done = 0, 0, 0
    while done < size:
        # The best of the bounds that are left: first those above the floor, then all that may still count.
        heap = 0
        for n in range(done, size):
            if keys[n] >= floor:
                at = done + heap
                keys[n], keys[at] = keys[at], keys[n]
                places[n], places[at] = places[at], places[n]
                heap += 1
        best, those = keys[done : done + heap], places[done : done + heap]
        done += heap
        for at in range(heap // 2 - 1, -1, -1):
            _sink(best, those, at, heap)
        while heap > 0 and best[0] >= top[0]:
            d, heap = those[0], heap - 1
            best[0], those[0] = best[heap], those[heap]
            _sink(best, those, 0, heap)
            count = records[d, SIZE]
            if count + 2 > len(near):
                counts, near = np.zeros((2 * count + 2) * terms), np.zeros(2 * count + 2, np.bool_)
            if used + count > len(numbers):
                numbers, values, used = _kept(numbers, values, used, top[0], count)
            used, more = _visited(
                shape, rule, slack, transform, weight, background, own, base, cuts, segments, owners, records,
                lengths, most, adds, chosen, d, whole, present, counts, near, numbers, values, used, top,
            )  # fmt: skip
            valued += more
        if floor <= top[0]:
            break
        floor = top[0]
    numbers, values, used = _kept(numbers, values, used, top[0], 0)
    return numbers[:used], total, valued
