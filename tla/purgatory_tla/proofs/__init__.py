"""Claims proved for every size at once, by z3.

``PROOFS`` holds every proof by its name. Importing this package needs z3 (the extra ``tla``).
"""

from collections.abc import Mapping

from purgatory_tla.proofs import memory_pool, stale_law, swap_loop
from purgatory_tla.proofs.obligations import Proof

PROOFS: Mapping[str, Proof] = {
    proof.name: proof for proof in (*memory_pool.PROOFS, *swap_loop.PROOFS, *stale_law.PROOFS)
}
"""Every proof, and every control of a proof, by name."""
