// SPDX-License-Identifier: CC0-1.0
// The purgatory keeps nothing of what was completed or cancelled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DelayedOperation, Purgatory, TimeOuts } from "./naive-purgatory.js";

/** An operation that can be completed once it is ready. */
class Waiting extends DelayedOperation {
  ready = false;

  tryComplete() {
    return this.ready && this.forceComplete();
  }
}

/** Two thousand that wait for an hour, under two keys. */
function waiting() {
  const purgatory = new Purgatory(new TimeOuts(1, 0), 100, true);
  const operations = Array.from({ length: 2_000 }, () => new Waiting(3_600_000));
  for (const each of operations) purgatory.tryCompleteElseWatch(each, ["a", "b"]);
  return { purgatory, operations };
}

/** @param {Purgatory} purgatory */
function assertNothingIsKept(purgatory) {
  purgatory.purgeIfDue();
  assert.deepEqual([purgatory.timer.armed.size, purgatory.lists.size], [0, 0]);
}

test("a completed operation is not kept until its time-out", () => {
  const { purgatory, operations } = waiting();
  for (const each of operations) each.forceComplete();
  assert.equal(purgatory.timer.armed.size, 0);
  assertNothingIsKept(purgatory);
});

test("a check leaves the entries under other keys to the purge", () => {
  const { purgatory, operations } = waiting();
  for (const each of operations) each.ready = true;
  assert.equal(purgatory.checkAndComplete("a"), 2_000);
  assert.equal(purgatory.staleEntries(), 2_000);
  assertNothingIsKept(purgatory);
});

test("a cancelled operation is not kept until its time-out", () => {
  const { purgatory } = waiting();
  purgatory.cancelForKey("a");
  purgatory.cancelForKey("b");
  assertNothingIsKept(purgatory);
});
