"""Histories of memory pools, known to be right or wrong, each with a word why."""

from purgatory_pipeline.traces.lines import MemoryPoolInstance
from purgatory_spec.operations import Allocate, Release
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile, ReleaseValidation
from purgatory_spec.reasons import Reason

from .known_history import right, wrong
from .traces import back, call, step

ONE_BYTE = MemoryPoolInstance(configuration=MemoryPoolConfiguration(1, 1))
STRICT = MemoryPoolInstance(
    configuration=MemoryPoolConfiguration(100, 60, strict=True),
    profile=MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY),
)
LENIENT = MemoryPoolInstance(configuration=MemoryPoolConfiguration(100, 60))

POOLS = {
    # Both overlap, so the later one may have been served first.
    "the later of two requests is granted": right(
        ONE_BYTE,
        call("t", Allocate("a", 1)),
        call("u", Allocate("b", 1)),
        back("t", False),
        back("u", True),
    ),
    # One byte cannot be lent twice.
    "two requests are granted and there is room for one": wrong(
        ONE_BYTE,
        4,
        call("t", Allocate("a", 1)),
        call("u", Allocate("b", 1)),
        back("t", True),
        back("u", True),
    ),
    # It was refused before anybody else asked.
    "a request is refused and nothing is out": wrong(
        ONE_BYTE,
        2,
        call("t", Allocate("a", 1)),
        back("t", False),
        step("u", Allocate("b", 1), True),
    ),
    # The release is under way when the second request is granted.
    "a byte is lent again while its release has not returned": right(
        ONE_BYTE,
        step("t", Allocate("a", 1), True),
        call("t", Release("a")),
        step("u", Allocate("b", 1), True),
        back("t"),
    ),
    # The release began after the grant had returned.
    "a byte is lent again before its release began": wrong(
        ONE_BYTE,
        2,
        step("t", Allocate("a", 1), True),
        step("u", Allocate("b", 1), True),
        step("t", Release("a")),
    ),
    # Its outcome is unknown: the second request may take the byte that nobody returned.
    "a release never returns, and took effect": right(
        ONE_BYTE,
        step("t", Allocate("a", 1), True),
        call("t", Release("a")),
        step("u", Allocate("b", 1), True),
        step("u", Allocate("c", 1), False),
    ),
    # One release cannot make room for two.
    "a release never returns, and two are granted after it": wrong(
        ONE_BYTE,
        4,
        step("t", Allocate("a", 1), True),
        call("t", Release("a")),
        step("u", Allocate("b", 1), True),
        step("u", Allocate("c", 1), True),
    ),
    # It took effect long after it began, and never returned.
    "a request that never returns takes the last byte much later": right(
        ONE_BYTE,
        call("t", Allocate("a", 1)),
        step("u", Allocate("b", 1), True),
        step("u", Release("b")),
        step("u", Allocate("c", 1), True),
        step("u", Release("c")),
        step("u", Allocate("d", 1), False),
    ),
    # 40 are left, 41 are asked for.
    "a strict pool grants more than there is": wrong(
        STRICT, 2, step("t", Allocate("a", 60), True), step("u", Allocate("b", 41), True)
    ),
    # The lenient pool grants as long as a byte is left.
    "a lenient pool grants more than there is": right(
        LENIENT, step("t", Allocate("a", 60), True), step("u", Allocate("b", 41), True)
    ),
    # Of two threads that give back one buffer, one must be told.
    "one buffer is given back twice at once": right(
        STRICT,
        step("t", Allocate("a", 1), True),
        call("t", Release("a")),
        call("u", Release("a")),
        back("t", rejected=Reason.INVALID_ARGUMENT),
        back("u"),
    ),
    "one buffer is given back twice at once, and both are told nothing": wrong(
        STRICT,
        5,
        step("t", Allocate("a", 1), True),
        call("t", Release("a")),
        call("u", Release("a")),
        back("t"),
        back("u"),
    ),
}
