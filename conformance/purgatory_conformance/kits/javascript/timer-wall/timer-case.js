// SPDX-License-Identifier: CC0-1.0
// The timer behind the protocol: each step becomes a call. Change names until it calls yours.
//
// On the real clock time passes in "wait". With --virtual the runner moves the clock of the same
// timer: exact, and without waiting.
import { Case, Unsupported } from "./case.js";
import { Script, ScriptError, SevereScriptError } from "./script.js";
import { TimeoutTimer, TooLarge } from "./timeout-timer.js";
import { beginAt, moveTo } from "./virtual-time.js";
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Configuration} Configuration */
/** @typedef {import("./protocol.js").Event} Event */
/** @typedef {import("./protocol.js").Operation} Operation */

const VIRTUAL = process.argv.includes("--virtual");
/** The real clock of node's own time-outs, in their whole milliseconds. */
const readMs = () => Number(process.hrtime.bigint() / 1_000_000n);

/** A task that follows a script. */
class ScriptedTask {
  /** @param {Script} script */
  constructor(script) {
    this.script = script;
  }

  run() {
    this.script.ran();
  }
}

/** A timer that runs its tasks by itself. */
export class TimerCase extends Case {
  static PROFILE = {
    rounding: "exact",
    clock: VIRTUAL ? "manual" : "wall",
    negative_delay: "as_zero", // as setTimeout has it
    severe_throw: "as_ordinary",
    release_cancelled: "at_once",
    features: [
      "cancel", "readd", "change_delay",
      ...(VIRTUAL ? ["script_throw", "script_throw_severe", "script_cancel", "reachable"] : []),
    ],
    observables: ["size"],
  };
  /** @type {[Function, string][]} */
  static REASONS = [[TooLarge, "too_large"]];

  /** @type {Map<string, ScriptedTask>} */
  tasks = new Map();

  /** @param {Configuration} asked */
  constructor(asked) {
    super();
    if (VIRTUAL) beginAt(asked.start_ms ?? 0); // what the former case has left is gone
    this.timer = new TimeoutTimer();
  }

  end() { // or the program does not end before they are due
    for (const task of this.timer.pending.keys()) this.timer.cancel(task);
  }

  /** The task of a name. @param {string} name */
  task(name) {
    const task = this.tasks.get(name) ?? new ScriptedTask(new Script(this, name));
    this.tasks.set(name, task);
    return task;
  }

  /** @param {Event["kind"]} kind @param {string} task @param {Partial<Event>} more */
  note(kind, task, more = {}) {
    super.note(kind, task, VIRTUAL ? more : { ...more, at_ms: readMs() });
  }

  nowMs() {
    return VIRTUAL ? undefined : readMs();
  }

  /** Calls what a step or an action of a task asks for.
   * @param {string} kind @param {Operation | Action} asked */
  call(kind, asked) {
    const { task = "", delay_ms = 0, for_ms, to_ms } = asked;
    switch (kind) {
      case "add":
        return this.add(this.task(task), delay_ms, asked);
      case "cancel":
        return this.timer.cancel(this.task(task));
      case "reachable":
        return this.isReachable(this.tasks, task);
      case "wait":
        return new Promise((go) => setTimeout(go, for_ms));
      case "advance":
        if (VIRTUAL && to_ms !== undefined) return moveTo(to_ms, this.thrown);
    }
    throw new Unsupported(kind);
  }

  /** @param {ScriptedTask} task @param {number} delayMs @param {Operation | Action} asked */
  add(task, delayMs, asked) {
    const former = task.script.actions;
    if ("op" in asked) { // the script of a step replaces it, and none is an empty one
      task.script.actions = Array.isArray(asked.script) ? asked.script : [];
    }
    try {
      this.timer.add(task, delayMs);
    } catch (error) { // nothing has changed
      task.script.actions = former;
      throw error;
    }
  }

  /** What a task throws reaches the event loop, and nobody else. @param {unknown} error */
  thrown(error) {
    if (!(error instanceof ScriptError || error instanceof SevereScriptError)) throw error;
  }

  observed() {
    return { size: this.timer.pending.size };
  }
}
