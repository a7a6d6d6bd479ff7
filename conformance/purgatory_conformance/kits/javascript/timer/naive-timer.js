// SPDX-License-Identifier: CC0-1.0
// A naive timer on a sorted array: put yours in its place. It knows nothing of the protocol.

/** A delay that is too large. */
export class TooLarge extends Error {}

/** Nothing is added after shutdown. */
export class Closed extends Error {}

/** The executor takes nothing, as one whose queue is full. */
export class Refused extends Error {}

const LARGEST_DELAY_MS = 2 ** 31 - 1; // what a profile that says nothing of it promises to accept

/** @typedef {{ run(): void }} Task */
/** @typedef {{ dueTick: number, number: number, task: Task }} Arming */

/** Tasks by the tick in which they are due; a clock that somebody else moves. */
export class NaiveTimer {
  /** @type {Arming[]} */
  armed = []; // sorted
  /** @type {Map<Task, Arming>} */
  pending = new Map();
  /** @type {Task[]} */
  queue = []; // the executor's: expired, not yet run
  refuses = false; // whether the executor does
  closed = false;
  armings = 0;

  /** @param {number} tickMs @param {number} startMs */
  constructor(tickMs, startMs) {
    this.tickMs = tickMs;
    this.nowMs = startMs;
  }

  /** @param {Task} task @param {number} delayMs */
  add(task, delayMs) {
    if (this.closed) throw new Closed();
    if (delayMs > LARGEST_DELAY_MS) throw new TooLarge(`a delay is at most ${LARGEST_DELAY_MS} ms`);
    this.cancel(task); // an earlier arming
    const dueTick = Math.floor((this.nowMs + delayMs) / this.tickMs) * this.tickMs; // "down"
    const arming = { dueTick, number: ++this.armings, task };
    this.armed.splice(this.place(arming), 0, arming);
    this.pending.set(task, arming);
  }

  /** @param {Task} task */
  cancel(task) {
    const arming = this.pending.get(task); // an unknown task is no error
    if (arming) this.armed.splice(this.place(arming), 1);
    this.pending.delete(task);
  }

  /** The place of an arming in the order of time. @param {Arming} arming */
  place({ dueTick, number }) {
    let [low, high] = [0, this.armed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const met = this.armed[middle];
      const isEarlier = met.dueTick - dueTick || met.number - number;
      [low, high] = isEarlier < 0 ? [middle + 1, high] : [low, middle];
    }
    return low;
  }

  /** Hands over what is due to the executor, and answers it; "runOne" runs it.
   *
   * What the executor refuses stays in the timer, and the next advance hands it over. */
  advance() {
    let count = 0;
    while (count < this.armed.length && this.armed[count].dueTick <= this.nowMs) count += 1;
    if (count && this.refuses) throw new Refused("the executor takes nothing");
    const due = this.armed.splice(0, count).map(({ task }) => task);
    for (const task of due) this.pending.delete(task);
    this.queue.push(...due);
    return due;
  }

  runOne() {
    this.queue.shift()?.run();
  }

  shutDown() {
    this.closed = true;
    this.armed = [];
    this.pending.clear();
  }
}
