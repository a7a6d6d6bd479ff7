// SPDX-License-Identifier: CC0-1.0
// A naive timer on setTimeout: put yours in its place. It knows nothing of the protocol.

/** A delay that is too large. */
export class TooLarge extends Error {}

const LARGEST_DELAY_MS = 2 ** 31 - 1; // of setTimeout, which runs at once what has a larger one

/** @typedef {{ run(): void }} Task */

/** Tasks that the event loop runs when their time has come. */
export class TimeoutTimer {
  /** @type {Map<Task, NodeJS.Timeout>} */
  pending = new Map();

  /** @param {Task} task @param {number} delayMs */
  add(task, delayMs) {
    if (delayMs > LARGEST_DELAY_MS) throw new TooLarge(`a delay is at most ${LARGEST_DELAY_MS} ms`);
    this.cancel(task); // an earlier arming
    this.pending.set(task, setTimeout(() => this.expire(task), delayMs));
  }

  /** @param {Task} task */
  cancel(task) {
    clearTimeout(this.pending.get(task)); // an unknown task is no error
    this.pending.delete(task);
  }

  /** @param {Task} task */
  expire(task) {
    this.pending.delete(task);
    task.run();
  }
}
