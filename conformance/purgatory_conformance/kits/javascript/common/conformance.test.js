// SPDX-License-Identifier: CC0-1.0
// The suite as a test: the verdict is that of "purgatory check"; a failure shows its report.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

test("every rule holds", () => {
  const options = ["check", "--suite", "quick", "--seed", "1"];
  const done = spawnSync("purgatory", options, { cwd: new URL(".", import.meta.url), encoding: "utf8" });
  const missing = "there is no command 'purgatory' on the PATH: README.md says how to install it";
  assert.equal(done.error, undefined, missing);
  assert.equal(done.status, 0, done.stdout + done.stderr);
});
