"""Products of 8-bit vectors, and bits of vectors, by which most of them need not be multiplied.

Products are sums of integers, so they are exact in any order. The bits of a vector are the signs of its
distances from the mean of all vectors (as in RaBitQ). With two numbers of the vector they give an estimate of
its product with a query, whose numbers are cut to three bits; a third number bounds the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from esr.folder.kernel.columns import prefetch
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
    eager_jit,
    group,
    inlined,
)

WORDS, FACTORS = array(types.uint64, 2), array(types.float32, 2)
ALLOWED = types.Array(types.boolean, 1, "C", readonly=True)
ROWS = group(VECTORS, DOUBLES, LONG, LONG)
QUERY = group(SHORTS, DOUBLE)
ESTIMATE = group(WORDS, FACTORS, WORDS, DOUBLE, DOUBLE, DOUBLE, DOUBLE)
ONE, TWO, NOTHING = np.uint64(1), np.uint64(2), -1
AT_ONCE, AHEAD = 4096, 8
"""Number of rows whose bounds are compared before any is multiplied, and how far ahead rows are fetched."""


def _bit_counter() -> Any:
    """Create a function that returns the number of bits of a word that are 1.

    The empty piece of assembly keeps the loop around it from being vectorised, which takes twice the time
    where the processor counts bits of single words only.
    """

    @intrinsic
    def count(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = ir.IntType(64)
            kept = builder.asm(ir.FunctionType(number, [number]), "", "=r,0", arguments, False)
            return builder.ctpop(kept)

        return types.uint64(types.uint64), generate

    return count


_count_bits = _bit_counter()


@inlined
def multiply(vector, query):
    """The product of 8-bit numbers with 16-bit ones, for which processors have a multiply-add instruction.

    A sum of 4,096 products, the maximum number of dimensions, fits into 27 bits.
    """
    total = np.int32(0)
    for i in range(len(query)):
        total = np.int32(total + np.int32(vector[i]) * np.int32(query[i]))
    return total


@eager_jit(DOUBLES, VECTORS, LONGS, SHORTS)
def multiply_vectors(products, vectors, rows, query):
    """Set `products`, of shape (n,), to the products of the query with these rows."""
    for n in range(len(rows)):
        products[n] = multiply(vectors[rows[n]], query)


@eager_jit(FLOATS, DOUBLES, ROWS, ALLOWED, QUERY, ESTIMATE)
def bound_vectors(bounds, seeds, rows, allowed, query, estimate):
    """Set the bounds of the products of rows, and a seed for each block of them: the product of the row with
    the greatest bound, -inf if none is allowed.

    `rows`: vectors, their scales (NaN for none), start and stop. `allowed` is the mask of the rows from start
    to stop, empty for all. `query`: values and scale. `estimate`: bits and factors of the vectors, the
    query's bits, the weight of the product with the mean, the step of the query's bits, the weight of the
    standard error, and what rounding may have taken from a bound.
    """
    vectors, scales, start, stop = rows
    values, scale = query
    words, factors, planes, of_mean, step, of_error, rounding = estimate
    most, twice = step * 7.0 * len(values), step * 2.0
    block = -(-(stop - start) // len(seeds))
    for b in range(len(seeds)):
        best, greatest = NOTHING, -np.inf
        for n in range(start + b * block, min(start + (b + 1) * block, stop)):
            ones = twos = fours = np.uint64(0)
            for w in range(words.shape[1]):
                word = words[n, w]
                ones += _count_bits(word ^ planes[w, 0])
                twos += _count_bits(word ^ planes[w, 1])
                fours += _count_bits(word ^ planes[w, 2])
            differences = np.float64(np.int64(ones + (twos << ONE) + (fours << TWO)))
            estimated = of_mean * factors[n, 0] + factors[n, 1] * (most - twice * differences)
            bound = estimated + of_error * factors[n, 2] + rounding
            if len(allowed) and not allowed[n - start]:
                bound = -np.inf
            bounds[n - start] = bound
            if bound > greatest:
                best, greatest = n, bound
        seeds[b] = -np.inf if best == NOTHING else multiply(vectors[best], values) * (scales[best] * scale)


@eager_jit(LONGS, DOUBLES, ROWS, ALLOWED, FLOATS, QUERY, DOUBLE)
def select_vectors(numbers, products, rows, allowed, bounds, query, limit):
    """Write the numbers and products of the rows whose products exceed a limit. Returns how many they are.

    Rows whose bounds are below the limit are not multiplied; without bounds, all are. Else as above.
    """
    vectors, scales, start, stop = rows
    values, scale = query
    address, dimensions = vectors.ctypes.data, len(values)
    size = 0
    for begin in range(start, stop, AT_ONCE):
        end = size
        for n in range(begin, min(begin + AT_ONCE, stop)):
            numbers[end] = n
            is_allowed = not len(allowed) or allowed[n - start]
            end += is_allowed and (not len(bounds) or bounds[n - start] >= limit)
        for i in range(size, end):
            if len(bounds) and i + AHEAD < end:
                for byte in range(0, dimensions, 64):
                    prefetch(address + numbers[i + AHEAD] * dimensions + byte)
            n = numbers[i]
            product = multiply(vectors[n], values) * (scales[n] * scale)
            if product > limit:
                numbers[size], products[size] = n, product
                size += 1
    return size


@eager_jit(WORDS, FACTORS, VECTORS, DOUBLES, FLOATS, fastmath=("reassoc",))
def compute_bits(words, factors, vectors, scales, mean):
    """Set the bits and factors of vectors, NaN where there is none.

    The factors are the product with the mean, the length that a sign stands for, and a standard error for a
    query of length 1.
    """
    dimensions = len(mean)
    distances = np.empty(dimensions, np.float32)
    for n in range(len(scales)):
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
            words[n, w] = word
        size = sum_of_squares / sum_of_sizes if sum_of_sizes > 0 else np.float32(0.0)
        explained = sum_of_sizes / (size * dimensions) if size > 0 else np.float32(1.0)
        factors[n, 0] = of_mean
        factors[n, 1] = size
        factors[n, 2] = size * np.sqrt(LOST + (1.0 - explained if explained < 1 else 0.0))
