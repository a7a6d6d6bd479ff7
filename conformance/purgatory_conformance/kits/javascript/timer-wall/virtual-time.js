// SPDX-License-Identifier: CC0-1.0
// Time-outs, and a clock that stands still until it is moved and stops at each time-out on its way.
// They take the place of setTimeout, setInterval, Date and performance.now, and of what modules
// import from node:timers and node:timers/promises.
import { syncBuiltinESMExports } from "node:module";
import nodeTimers from "node:timers";
import nodePromises from "node:timers/promises";
import { promisify } from "node:util";
/** @typedef {(...args: any[]) => void} Callback */

const LARGEST_DELAY_MS = 2 ** 31 - 1; // node takes a larger one for 1 ms
const RealDate = Date;

let nowMs = 0;
let armings = 0;
/** @type {Timeout[]} */
let armed = []; // sorted

class Timeout {
  id = ++armings;
  number = 0;
  dueMs = 0;
  isClosed = false;

  /** @param {Callback} call @param {any} ms @param {any[]} args @param {boolean} repeats */
  constructor(call, ms, args, repeats) {
    this.call = () => call(...args);
    this.repeats = repeats;
    const waitMs = ms <= LARGEST_DELAY_MS ? Math.trunc(ms) : 1; // 1 also for what is no number
    this.waitMs = Math.max(waitMs, repeats ? 1 : 0);
    this.refresh();
  }

  refresh() {
    this.close();
    this.dueMs = nowMs + this.waitMs;
    this.number = ++armings;
    armed.splice(placeOf(this), 0, this);
    return this;
  }

  close() {
    const place = placeOf(this);
    if (armed[place] === this) armed.splice(place, 1);
    this.isClosed = true;
    return this;
  }

  run() { // it is no longer armed
    this.isClosed = false;
    this.call();
    if (this.repeats && !this.isClosed) this.refresh();
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }

  hasRef() {
    return true;
  }

  [Symbol.toPrimitive]() {
    return this.id;
  }
}

/** The place of a time-out in the order of time. @param {Timeout} timeout */
function placeOf({ dueMs, number }) {
  let [low, high] = [0, armed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isEarlier = armed[middle].dueMs - dueMs || armed[middle].number - number;
    [low, high] = isEarlier < 0 ? [middle + 1, high] : [low, middle];
  }
  return low;
}

/** @param {any} timeout */
function clear(timeout) {
  const found = timeout instanceof Timeout ? timeout : armed.find(({ id }) => id === +timeout);
  found?.close();
}

/** @param {number} [ms] @param {any} [value] @param {{ signal?: AbortSignal }} [options] */
function promised(ms, value, { signal } = {}) {
  return new Promise((resolve, reject) => {
    const timeout = new Timeout(resolve, ms, [value], false);
    const abort = () => reject(signal?.reason) ?? timeout.close();
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
  });
}

const timers = {
  /** @param {Callback} call @param {any} [ms] @param {any[]} args */
  setTimeout: (call, ms, ...args) => new Timeout(call, ms, args, false),
  /** @param {Callback} call @param {any} [ms] @param {any[]} args */
  setInterval: (call, ms, ...args) => new Timeout(call, ms, args, true),
  clearTimeout: clear,
  clearInterval: clear,
};

/** Begins anew at a reading of the clock; no time-out is armed. @param {number} startMs */
export function beginAt(startMs) {
  [nowMs, armed] = [startMs, []];
  Object.assign(timers.setTimeout, { [promisify.custom]: promised });
  Object.assign(globalThis, timers);
  Object.assign(nodeTimers, timers);
  Object.assign(nodePromises, { setTimeout: promised });
  syncBuiltinESMExports();
  Object.assign(performance, { now: () => nowMs });
  globalThis.Date = new Proxy(RealDate, {
    construct: (date, args, kind) => Reflect.construct(date, args.length ? args : [nowMs], kind),
    get: (date, name, self) => (name === "now" ? () => nowMs : Reflect.get(date, name, self)),
  });
}

/** Lets time pass, and everything happen that is due until then.
 * @param {number} toMs @param {(error: unknown) => void} thrown what a callback has thrown */
export async function moveTo(toMs, thrown) {
  while (armed.length && armed[0].dueMs <= toMs) {
    const timeout = /** @type {Timeout} */ (armed.shift());
    nowMs = Math.max(nowMs, timeout.dueMs);
    try {
      timeout.run();
    } catch (error) {
      thrown(error);
    }
    await new Promise(setImmediate); // what goes on behind a promise
  }
  nowMs = toMs;
  await new Promise(setImmediate);
}
