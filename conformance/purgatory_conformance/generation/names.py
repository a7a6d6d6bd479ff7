"""Unusual names: long names, names with small differences, and names of equal hashes.

A table of situations draws plain names. Some cases get others in their places, all at once, so that
a component that confuses two names meets them in every situation.
"""

from collections.abc import Callable, Sequence

from purgatory_conformance.generation.fields import Operations, all_changed, of_words, words_of
from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import channel_of

LONG_CHARACTERS = 10_000
"""The length of the longest names."""

_MOST_LONG_NAMES = 12
"""The most names of a case that may be of the largest length: each step carries its own."""

_HASHES = (2**31, 2**31, 2**31 - 1, 0)
"""Hashes at the ends of 32-bit integers."""

_ENDING = 7
"""The characters that give a word any hash: 31 to the 7th power is larger than 2**32."""

_ALIKE = (
    ("a", "A", "\uff41", "a ", " a", "\u0430", "aa"),
    ("a", "a\n", "a\t", "a\u200b", "a\r", "a\ufe0f"),
    ("\U0001f600", "\uf600", "\U0001f601"),
    ("bA", "ab", "plumless", "buckeroo"),
    ("\u00e4", "a\u0308", "\u00c4", "\u65e5\u672c"),
    ("\u00df", "SS", "ss", "\u1e9e"),
    ("a.b", "a_b", "a-b", "ab"),
    ("1", "01", "1.0", "+1", "1e0", "0x1", "true", "True"),
    ("0", "-0", "-1", "null", "None", "nil", "NaN", "undefined"),
    ("__proto__", "constructor", "toString", "hashCode", "default"),
    ("a b", "a+b", "a%20b", "a/b", "a,b", "a:b", "a\\b", 'a"b', "a'b"),
    ("*", "..", "%s", "{}", "$a"),
)
"""Groups of names that some way to read them takes for one another.

It may be as a number, a path or a pattern, without case or signs of no width, in 16 bits, or by a
hash: two names have one djb2 hash modulo 2**32, and two one CRC-32. None has a zero, at which a
string of C ends.
"""


def _of_one_java_hash(count: int, source: Source) -> list[str]:
    """Return words with the same ``String.hashCode``; of the smallest, no absolute value exists."""
    wanted = source.item(_HASHES)
    return [_of_java_hash(str(each), wanted) for each in range(count)]


def _of_java_hash(start: str, wanted: int) -> str:
    """Return a word that begins so and has this ``String.hashCode``, modulo 2**32."""
    so_far = 0
    for character in start + "@" * _ENDING:
        so_far = so_far * 31 + ord(character)
    rest, ending = (wanted - so_far) % 2**32, ""
    for _ in range(_ENDING):
        rest, digit = divmod(rest, 31)
        ending = chr(ord("@") + digit) + ending
    return start + ending


def _of_one_fnv_hash(count: int, _: Source) -> list[str]:
    """Return words two and two of which have the same 32-bit FNV-1a hash: equal ends keep it."""
    return [f"{('costarring', 'liquid')[each % 2]}{each // 2}" for each in range(count)]


def _long(count: int, _: Source) -> list[str]:
    """Return long words that differ from each other in their last characters."""
    length = LONG_CHARACTERS if count <= _MOST_LONG_NAMES else 100
    return [f"{each:0{length}d}" for each in range(count)]


def _odd(count: int, source: Source) -> list[str]:
    """Return similar words, group after group; of each its first word and then any others."""
    first, second = source.integer(0, len(_ALIKE) - 1), source.integer(0, 5)
    turned = [(word, *rest[second:], *rest[:second]) for word, *rest in _ALIKE]
    groups = (*turned[first:], *turned[:first])
    words = list(dict.fromkeys(word for group in groups for word in group))
    return [words[each % len(words)] + "~" * (each // len(words)) for each in range(count)]


_KINDS: Sequence[Callable[[int, Source], list[str]]] = (
    _odd,
    _odd,
    _of_one_java_hash,
    _of_one_fnv_hash,
    _long,
)


def with_other_names(operations: Operations, source: Source) -> Operations:
    """Return the operations, in one of three cases with other names and keys in place of all.

    One key is empty in some of these; a name never is.
    """
    if source.integer(0, 2) < 2:
        return operations
    kind = source.item(_KINDS)
    others: dict[str, str] = {}
    for keys in (False, True):
        words = [channel_of(word) for is_key, word in words_of(operations) if is_key is keys]
        different = list(dict.fromkeys(words))
        others.update(zip(different, kind(len(different), source), strict=True))
        if keys and different and source.integer(0, 3) == 0:
            others[different[-1]] = ""
    return all_changed(operations, of_words(others))
