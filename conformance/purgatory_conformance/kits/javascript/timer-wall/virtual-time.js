// SPDX-License-Identifier: CC0-1.0
// A clock that stands still until it is moved: setTimeout, setInterval and Date of node's own mocks.
import { mock } from "node:test";

/** Begins anew at a reading of the clock; no timer is armed. @param {number} startMs */
export function beginAt(startMs) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: startMs });
}

/** Lets time pass, and everything happen that is due until then. @param {number} toMs */
export async function moveTo(toMs) {
  mock.timers.tick(toMs - Date.now());
  await new Promise(setImmediate); // what goes on behind a promise
}
