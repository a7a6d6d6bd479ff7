"""Figures of the reported bindings' comparisons: ``purgatory tla compare``."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of states and edges that both sides have.

    ``seconds`` is what the comparison took on two processors of a small virtual machine, both
    sides together.
    """

    states: int
    edges: int
    seconds: int


FIGURES = {
    "timer": Figures(10_220, 252_133, 7),
    "timer-rounding-up": Figures(11_714, 263_316, 7),
    "timing-wheel": Figures(12_577, 149_481, 15),
    "memory-pool-non-strict": Figures(32_857, 145_743, 15),
    "memory-pool-strict": Figures(15_691, 73_521, 6),
    "memory-pool-identity": Figures(14_882, 92_914, 6),
    "memory-pool-calls": Figures(11_844, 378_621, 14),
    "memory-pool-calls-strict": Figures(11_844, 379_125, 14),
    "memory-pool-unbounded": Figures(10_625, 321_950, 12),
    "purgatory-calls": Figures(16_716, 256_951, 31),
    "purgatory-calls-published": Figures(15_388, 236_207, 24),
    "purgatory-calls-leaving": Figures(14_342, 230_144, 26),
    "purgatory-calls-amortised": Figures(17_088, 274_895, 76),
    "purgatory-exact": Figures(14_998, 54_880, 11),
    "purgatory-exact-cancelling": Figures(17_423, 69_550, 14),
    "purgatory-proposal": Figures(45_166, 152_539, 25),
    "purgatory-proposal-cancelling": Figures(27_693, 93_465, 20),
    "purgatory-proposal-two-keys": Figures(12_334, 39_492, 10),
    "exact-accounting": Figures(71_088, 139_104, 21),
    "exact-accounting-two-operations": Figures(95_232, 135_680, 25),
    "channel-muting": Figures(41_503, 130_299, 7),
    "channel-muting-released": Figures(61_969, 185_565, 9),
    "channel-muting-two-threads": Figures(12_375, 36_728, 3),
}
"""The figures by the names of the bindings."""
