// SPDX-License-Identifier: CC0-1.0
// A naive timer on setTimeout: put yours in its place. It knows nothing of the protocol.

/** A delay that is too large. */
export class TooLarge extends Error {}

const LARGEST_DELAY_MS = 2 ** 31 - 1; // of setTimeout, which runs at once what has a larger one

/** Tasks that the event loop runs when their time has come. */
export class TimeoutTimer {
  /** @type {Map<string, NodeJS.Timeout>} */
  pending = new Map();

  /** @param {() => number} nowMs @param {(task: string) => void} run */
  constructor(nowMs, run) {
    this.nowMs = nowMs;
    this.run = run;
  }

  /** @param {string} task @param {number} delayMs */
  add(task, delayMs) {
    if (delayMs > LARGEST_DELAY_MS) throw new TooLarge(`a delay is at most ${LARGEST_DELAY_MS} ms`);
    this.cancel(task); // an earlier arming
    this.arm(task, this.nowMs() + delayMs);
  }

  /** @param {string} task @param {number} dueMs */
  arm(task, dueMs) {
    const timeout = setTimeout(() => this.expire(task, dueMs), dueMs - this.nowMs());
    this.pending.set(task, timeout);
  }

  /** @param {string} task */
  cancel(task) {
    clearTimeout(this.pending.get(task)); // an unknown task is no error
    this.pending.delete(task);
  }

  /** @param {string} task @param {number} dueMs */
  expire(task, dueMs) {
    if (this.nowMs() < dueMs) return this.arm(task, dueMs); // the loop's clock is a little ahead
    this.pending.delete(task);
    this.run(task);
  }
}
