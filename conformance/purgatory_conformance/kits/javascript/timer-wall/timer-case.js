// SPDX-License-Identifier: CC0-1.0
// The timer behind the protocol: each step becomes a call. Change names until it calls yours.
//
// On the real clock time passes in "wait". With --virtual the same timer lives with mocked timers,
// whose clock the runner moves: exact, and without waiting.
import { Case, Unsupported } from "./case.js";
import { TimeoutTimer, TooLarge } from "./timeout-timer.js";
import { beginAt, moveTo } from "./virtual-time.js";
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Configuration} Configuration */
/** @typedef {import("./protocol.js").Operation} Operation */

const VIRTUAL = process.argv.includes("--virtual");

const readMs = () => Math.floor(performance.now());

/** A timer that runs its tasks by itself. */
export class TimerCase extends Case {
  static PROFILE = {
    rounding: "exact",
    clock: VIRTUAL ? "manual" : "wall",
    negative_delay: "as_zero", // as setTimeout has it
    features: ["cancel", "readd", "change_delay"],
    observables: ["size"],
  };
  /** @type {[Function, string][]} */
  static REASONS = [[TooLarge, "too_large"]];

  /** @param {Configuration} asked */
  constructor(asked) {
    super();
    if (VIRTUAL) beginAt(asked.start_ms ?? 0); // what the former case has left is gone
    const clock = VIRTUAL ? Date.now : readMs;
    this.timer = new TimeoutTimer(clock, (task) => this.ran(task));
  }

  /** @param {string} task */
  ran(task) {
    this.note("ran", task, VIRTUAL ? {} : { at_ms: readMs() });
  }

  nowMs() {
    return VIRTUAL ? undefined : readMs();
  }

  end() { // or the program does not end before they are due
    for (const task of this.timer.pending.keys()) this.timer.cancel(task);
  }

  /** @param {string} kind @param {Operation | Action} asked */
  async call(kind, asked) {
    const { task = "", delay_ms = 0 } = asked;
    switch (kind) {
      case "add":
        return this.timer.add(task, delay_ms);
      case "cancel":
        return this.timer.cancel(task);
      case "wait":
        return new Promise((go) => setTimeout(go, asked.for_ms));
      case "advance":
        if (VIRTUAL && asked.to_ms !== undefined) return moveTo(asked.to_ms);
    }
    throw new Unsupported(kind);
  }

  observed() {
    return { size: this.timer.pending.size };
  }
}
