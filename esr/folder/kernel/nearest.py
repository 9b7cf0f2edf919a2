"""Products of 8-bit vectors, and bits of vectors, which rule out most vectors without multiplying them.

Products are sums of integers, so they are exact in any order. The bits of a vector are the signs of its
distances from the mean of all vectors (as in RaBitQ). With two numbers of the vector they give an estimate of
its product with a query, whose numbers are quantized to three bits; a third number bounds the error. Bits and
numbers are stored by blocks of 64 vectors, word by word: one instruction counts the bits of several vectors.
"""

from __future__ import annotations

import numpy as np
from numba import types

from esr.folder.kernel.layout import LOST
from esr.folder.kernel.numba_support import (
    DOUBLE,
    DOUBLES,
    FLOATS,
    LONG,
    LONGS,
    SHORTS,
    VECTORS,
    array,
    count_bits,
    count_trailing_zeros,
    eager_jit,
    group,
    inlined,
    prefetch,
)

WORDS, FACTORS, PLANES = array(types.uint64, 3), array(types.float32, 3), array(types.uint64, 2)
ALLOWED = types.Array(types.boolean, 1, "C", readonly=True)
ROWS = group(VECTORS, DOUBLES, LONG, LONG)
QUERY = group(SHORTS, DOUBLE)
ESTIMATE = group(WORDS, FACTORS, PLANES, DOUBLE, DOUBLE, DOUBLE, DOUBLE)
ONE, TWO, NOTHING = np.uint64(1), np.uint64(2), -1
LANES = 64
"""Number of vectors in a block."""
AHEAD, LINE = 8, 64
"""Number of rows by which the prefetch is ahead, and bytes in a cache line."""


@inlined
def multiply(vector, query):
    """The product of 8-bit numbers with 16-bit ones, for which processors have a multiply-add instruction.

    A sum of 4,096 products, the maximum number of dimensions, fits into 27 bits.
    """
    total = np.int32(0)
    for i in range(len(query)):
        total = np.int32(total + np.int32(vector[i]) * np.int32(query[i]))
    return total


@inlined
def _fetch(vectors, scales, row):
    """Prefetch a row and its scale into the cache. A negative row does no harm."""
    dimensions = vectors.shape[1]
    address = vectors.ctypes.data + row * dimensions
    for byte in range(0, dimensions, LINE):
        prefetch(address + byte)
    prefetch(scales.ctypes.data + row * 8)


@eager_jit(DOUBLES, VECTORS, LONGS, SHORTS)
def multiply_vectors(products, vectors, rows, query):
    """Set `products`, of shape (n,), to the products of the query with these rows."""
    for n in range(len(rows)):
        products[n] = multiply(vectors[rows[n]], query)


@eager_jit(LONGS, FLOATS, DOUBLES, ROWS, ALLOWED, QUERY, ESTIMATE, DOUBLE)
def bound_vectors(numbers, bounds, seeds, rows, allowed, query, estimate, limit):
    """Write the numbers and bounds of the rows whose products may reach a limit. Returns their number.

    Sets `seeds`, of shape (64 G,), to the products of the rows with the greatest bounds. The blocks form G
    groups, and each group has one such row for each place in a block; -inf if none is allowed.

    `rows`: vectors, their scales (NaN for none), start and stop. `allowed` is the mask of the rows from start
    to stop, empty for all. `query`: values and scale. `estimate`: bits and factors of the vectors, the
    query's bits, the weight of the product with the mean, the step of the query's bits, the weight of the
    standard error, and what rounding may have taken from a bound.
    """
    vectors, scales, start, stop = rows
    values, scale = query
    words, factors, planes, of_mean, step, of_error, rounding = estimate
    most, twice = step * 7.0 * len(values), step * 2.0
    differences, block = np.empty(LANES, np.uint64), np.empty(LANES, np.float32)
    greatest, best = np.empty(LANES, np.float32), np.empty(LANES, np.int64)
    first, last, groups = start // LANES, -(-stop // LANES), len(seeds) // LANES
    of_group = -(-(last - first) // groups)
    size = 0
    for g in range(groups):
        for i in range(LANES):
            greatest[i], best[i] = -np.inf, NOTHING
        for b in range(first + g * of_group, min(first + (g + 1) * of_group, last)):
            for i in range(LANES):
                differences[i] = 0
            for w in range(words.shape[1]):
                ones, twos, fours = planes[w, 0], planes[w, 1], planes[w, 2]
                for i in range(LANES):
                    word = words[b, w, i]
                    counted = count_bits(word ^ ones) + (count_bits(word ^ twos) << ONE)
                    differences[i] += counted + (count_bits(word ^ fours) << TWO)
            for i in range(LANES):
                estimated = of_mean * factors[b, 0, i]
                estimated += factors[b, 1, i] * (most - twice * np.float64(np.int64(differences[i])))
                block[i] = estimated + of_error * factors[b, 2, i] + rounding
            if len(allowed) or b * LANES < start or (b + 1) * LANES > stop:
                for i in range(LANES):
                    n = b * LANES + i
                    if n < start or n >= stop or (len(allowed) and not allowed[n - start]):
                        block[i] = np.nan
            reaching = np.uint64(0)
            for i in range(LANES):
                is_greater = block[i] > greatest[i]
                greatest[i] = block[i] if is_greater else greatest[i]
                best[i] = b * LANES + i if is_greater else best[i]
                reaching |= np.uint64(block[i] >= limit) << np.uint64(i)
            while reaching:
                lane = np.int64(count_trailing_zeros(reaching))
                numbers[size], bounds[size] = b * LANES + lane, block[lane]
                reaching &= reaching - ONE
                size += 1
        for i in range(LANES):
            _fetch(vectors, scales, best[i])
        for i in range(LANES):
            n, product = best[i], -np.inf
            if n != NOTHING:
                product = multiply(vectors[n], values) * (scales[n] * scale)
            seeds[g * LANES + i] = product
    return size


@eager_jit(LONGS, DOUBLES, ROWS, ALLOWED, QUERY, DOUBLE)
def multiply_all(numbers, products, rows, allowed, query, limit):
    """Write the numbers and products of the rows whose products exceed a limit. Returns their number.

    The arguments are those of `bound_vectors`.
    """
    vectors, scales, start, stop = rows
    values, scale = query
    size = 0
    for n in range(start, stop):
        if not len(allowed) or allowed[n - start]:
            product = multiply(vectors[n], values) * (scales[n] * scale)
            if product > limit:
                numbers[size], products[size] = n, product
                size += 1
    return size


@eager_jit(LONGS, DOUBLES, FLOATS, VECTORS, DOUBLES, QUERY, DOUBLE)
def multiply_some(numbers, products, bounds, vectors, scales, query, limit):
    """Like `multiply_all`, for the rows in `numbers` whose bounds reach the limit; overwrites `numbers`."""
    values, scale = query
    end = 0
    for i in range(len(bounds)):
        numbers[end] = numbers[i]
        end += bounds[i] >= limit
    size = 0
    for i in range(end):
        if i + AHEAD < end:
            _fetch(vectors, scales, numbers[i + AHEAD])
        n = numbers[i]
        product = multiply(vectors[n], values) * (scales[n] * scale)
        if product > limit:
            numbers[size], products[size] = n, product
            size += 1
    return size


@eager_jit(WORDS, FACTORS, VECTORS, DOUBLES, FLOATS, fastmath=("reassoc",))
def compute_bits(words, factors, vectors, scales, mean):
    """Set the bits and factors of vectors. The factors of a row without a vector are NaN.

    The factors are the product with the mean, the length that a sign stands for, and a standard error for a
    query of length 1. Row n has the place n % 64 of block n // 64.
    """
    dimensions = len(mean)
    distances = np.empty(dimensions, np.float32)
    for n in range(len(scales)):
        b, lane = n // LANES, n % LANES
        row, scale = vectors[n], np.float32(scales[n])
        of_mean = sum_of_sizes = sum_of_squares = np.float32(0.0)
        for i in range(dimensions):
            number = np.float32(row[i]) * scale
            distance = distances[i] = number - mean[i]
            of_mean += number * mean[i]
            sum_of_sizes += abs(distance)
            sum_of_squares += distance * distance
        for w in range(words.shape[1]):
            word = np.uint64(0)
            for i in range(64 * w, min(64 * w + 64, dimensions)):
                word |= np.uint64(distances[i] > 0) << np.uint64(i & 63)
            words[b, w, lane] = word
        size = sum_of_squares / sum_of_sizes if sum_of_sizes > 0 else np.float32(0.0)
        explained = sum_of_sizes / (size * dimensions) if size > 0 else np.float32(1.0)
        factors[b, 0, lane] = of_mean
        factors[b, 1, lane] = size
        factors[b, 2, lane] = size * np.sqrt(LOST + (1.0 - explained if explained < 1 else 0.0))
