"""Claims proved for every size at once, by z3.

``PROOFS`` holds every proof by its name. Importing this package needs z3 (the extra ``tla``).
"""

from collections.abc import Mapping

from purgatory_tla.proofs import memory_pool, stale_law, swap_loop, timing_wheel
from purgatory_tla.proofs.obligations import Proof

PROOFS: Mapping[str, Proof] = {
    proof.name: proof
    for module in (memory_pool, swap_loop, stale_law, timing_wheel)
    for proof in module.PROOFS
}
"""Every proof, and every control of a proof, by name."""
