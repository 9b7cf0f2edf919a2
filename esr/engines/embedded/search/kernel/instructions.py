"""Instructions of the processor that numba has no functions for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
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


def _prefetcher() -> Any:
    """A function of an address: what stands there is brought into the cache, and nobody waits for it.

    The address may be any number.
    """

    @intrinsic
    def prefetch(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
            is_write, locality, is_data = number(0), number(3), number(1)
            builder.call(function, [builder.inttoptr(arguments[0], pointer), is_write, locality, is_data])
            return context.get_dummy_value()

        return types.void(types.int64), generate

    return prefetch


count_trailing_zeros, choose, prefetch = _trailing_zeros(), _chooser(), _prefetcher()
