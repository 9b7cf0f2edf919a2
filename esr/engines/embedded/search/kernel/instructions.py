"""Instructions of the processor that numba has no functions for."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _trailing_zeros() -> Any:
    """A function of a word that is not 0: the place of its lowest bit that is 1."""

    @intrinsic
    def count(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

        return types.uint64(types.uint64), generate

    return count


def _chooser() -> Any:
    """A function of a condition and two numbers: the first number where it holds, else the second.

    No branch is made of it, as LLVM makes of other ways to say the same. A branch costs more where it is hard
    to foresee.
    """

    @intrinsic
    def choose(context: Any, condition: Any, number: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            chosen = builder.select(*arguments)
            chosen.set_metadata("unpredictable", builder.module.add_metadata([]))
            return chosen

        return types.int64(types.boolean, types.int64, types.int64), generate

    return choose


count_trailing_zeros, choose = _trailing_zeros(), _chooser()
