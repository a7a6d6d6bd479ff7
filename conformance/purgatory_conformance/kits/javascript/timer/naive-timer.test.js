// SPDX-License-Identifier: CC0-1.0
// The timer keeps nothing of what was cancelled or moved.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NaiveTimer } from "./naive-timer.js";

const HOUR_MS = 3_600_000;

test("a cancelled task is not kept until it is due", () => {
  const timer = new NaiveTimer(1, 0);
  const tasks = Array.from({ length: 10_000 }, () => ({ run() {} }));
  for (const task of tasks) timer.add(task, HOUR_MS);
  for (const task of tasks) timer.cancel(task);
  assert.deepEqual([timer.armed.length, timer.pending.size], [0, 0]);
});

test("a task that is moved is kept once", () => {
  const timer = new NaiveTimer(1, 0);
  const task = { run() {} };
  for (let times = 0; times < 10_000; times += 1) timer.add(task, HOUR_MS);
  assert.equal(timer.armed.length, 1);
});
