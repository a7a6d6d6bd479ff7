// SPDX-License-Identifier: CC0-1.0
// An allocation that fails changes nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryPool } from "./naive-memory-pool.js";

const LARGE = 2 ** 50;

test("an allocation that fails takes nothing", () => {
  const pool = new MemoryPool(LARGE, LARGE, false);
  assert.throws(() => pool.tryAllocate(LARGE / 2), RangeError);
  assert.deepEqual([pool.availableBytes, pool.granted.size], [LARGE, 0]);
  assert.notEqual(pool.tryAllocate(1), null);
});

test("an allocation that fails ends no dry spell", () => {
  const pool = new MemoryPool(LARGE, LARGE, true);
  pool.tryAllocate(1);
  pool.tryAllocate(LARGE); // a dry spell begins
  assert.throws(() => pool.tryAllocate(LARGE / 2), RangeError);
  assert.equal(pool.depletedSpells, 0);
  pool.tryAllocate(1);
  assert.equal(pool.depletedSpells, 1);
});
