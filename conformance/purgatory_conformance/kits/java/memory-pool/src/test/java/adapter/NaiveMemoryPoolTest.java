// SPDX-License-Identifier: CC0-1.0
package adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** The pool is as before where the memory for a buffer cannot be had. */
class NaiveMemoryPoolTest {
    private static final long LARGE = 1L << 50;

    @Test
    void anAllocationThatFailsTakesNothing() {
        NaiveMemoryPool pool = new NaiveMemoryPool(LARGE, LARGE, false);
        for (long bytes : new long[] {LARGE / 2, Integer.MAX_VALUE}) { // no array of HotSpot has so many
            assertThrows(NaiveMemoryPool.NoMemory.class, () -> pool.tryAllocate(bytes));
        }
        assertEquals(LARGE, pool.availableBytes());
        assertNotNull(pool.tryAllocate(1));
    }

    @Test
    void anAllocationThatFailsEndsNoDrySpell() {
        NaiveMemoryPool pool = new NaiveMemoryPool(LARGE, LARGE, true);
        assertNotNull(pool.tryAllocate(1));
        assertNull(pool.tryAllocate(LARGE)); // a dry spell begins
        assertThrows(NaiveMemoryPool.NoMemory.class, () -> pool.tryAllocate(LARGE / 2));
        assertEquals(0, pool.depletedSpells());
        assertNotNull(pool.tryAllocate(1));
        assertEquals(1, pool.depletedSpells());
    }
}
