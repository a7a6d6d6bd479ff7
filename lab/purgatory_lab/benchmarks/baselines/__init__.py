"""The baseline of the new design: the purgatory before it, the *old design*.

Plain typed Python like the implementation, and compiled in the same way where that is compiled.
"""

from purgatory_lab.benchmarks.baselines.old_operation import COMPILED, DelayedOperation
from purgatory_lab.benchmarks.baselines.old_purgatory import Purgatory

__all__ = ["COMPILED", "DelayedOperation", "Purgatory"]
