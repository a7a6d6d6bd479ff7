"""The memory pool's arithmetic: what is granted, how much may be outstanding, and why it is so.

Sizes are whole numbers of bytes; ``available`` may be below zero. The contract of each function,
in its pre- and postconditions, is checked symbolically over all integers by the tests. Together
they say that ``is_sound`` is an inductive invariant: it is true of a fresh pool, every step keeps
it, and it implies the bound.
"""


def is_granted(available: int, asked: int, strict: bool) -> bool:
    """Decide whether a request of a legal size is granted.

    pre: asked >= 1
    post: available >= 1 or not _
    post: available < asked or _

    Rules: POOL-STRICT, POOL-NON-STRICT.
    """
    return available >= asked if strict else available >= 1


def is_legal(asked: int, max_single: int) -> bool:
    """Decide whether a buffer of this size may be asked for at all.

    pre: max_single >= 1
    post: _ == (asked in range(1, max_single + 1))

    Rules: POOL-ZERO-REQUEST, POOL-NEGATIVE-REQUEST, POOL-OVERSIZE-REQUEST.
    """
    return 1 <= asked <= max_single


def are_sizes(size: int, max_single: int) -> bool:
    """Decide whether a pool can be made of these sizes.

    post: not _ or (size >= 1 and max_single >= 1)

    Rules: POOL-CONSTRUCT.
    """
    return 1 <= max_single <= size


def least_available(max_single: int, strict: bool) -> int:
    """Return the least value of *available*: one byte is enough for the largest request.

    pre: max_single >= 1
    post: -max_single < _ <= 0
    """
    return 0 if strict else 1 - max_single


def bound(size: int, max_single: int, strict: bool) -> int:
    """Return the most that may be outstanding; less than the size and a largest buffer.

    pre: 1 <= max_single <= size
    post: size <= _ < size + max_single

    Rules: POOL-BOUND.
    """
    return size - least_available(max_single, strict)


def is_sound(available: int, outstanding: int, size: int, max_single: int, strict: bool) -> bool:
    """Decide the inductive invariant: no byte is lost or made, *available* not too low.

    pre: 1 <= max_single <= size
    post: not _ or outstanding <= bound(size, max_single, strict)
    post: not _ or available <= size

    Rules: POOL-CONSERVATION, POOL-BOUND.
    """
    conserved = available + outstanding == size
    return conserved and outstanding >= 0 and available >= least_available(max_single, strict)


def is_sound_at_first(size: int, max_single: int, strict: bool) -> bool:
    """Decide whether a fresh pool is sound: it has all its bytes.

    pre: 1 <= max_single <= size
    post: _
    """
    return is_sound(size, 0, size, max_single, strict)


def request_keeps_it_sound(
    available: int, outstanding: int, asked: int, size: int, max_single: int, strict: bool
) -> bool:
    """Decide whether a legal request keeps a sound pool sound, granted or not.

    pre: 1 <= max_single <= size and is_legal(asked, max_single)
    pre: is_sound(available, outstanding, size, max_single, strict)
    post: _
    """
    debit = asked if is_granted(available, asked, strict) else 0
    return is_sound(available - debit, outstanding + debit, size, max_single, strict)


def release_keeps_it_sound(
    available: int, outstanding: int, released: int, size: int, max_single: int, strict: bool
) -> bool:
    """Decide whether a release or loss of an outstanding buffer keeps a sound pool sound.

    pre: 1 <= max_single <= size and 0 <= released <= outstanding
    pre: is_sound(available, outstanding, size, max_single, strict)
    post: _
    """
    return is_sound(available + released, outstanding - released, size, max_single, strict)


def bound_is_reached(size: int, max_single: int) -> bool:
    """Decide whether a largest request at one byte left reaches the bound.

    pre: 1 <= max_single <= size
    post: _

    Rules: POOL-BOUND.
    """
    granted = is_granted(1, max_single, strict=False)
    return granted and (size - 1) + max_single == bound(size, max_single, strict=False)
