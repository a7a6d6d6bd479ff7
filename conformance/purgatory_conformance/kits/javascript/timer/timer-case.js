// SPDX-License-Identifier: CC0-1.0
// The timer behind the protocol: each step becomes a call. Change names until it calls yours.
import { Case, Unsupported } from "./case.js";
import { Closed, NaiveTimer, Refused, TooLarge } from "./naive-timer.js";
import { Script, ScriptError, SevereScriptError } from "./script.js";
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Configuration} Configuration */
/** @typedef {import("./protocol.js").Operation} Operation */

const STEPPED = process.argv.includes("--stepped"); // expired tasks wait until the runner runs them

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

/** A timer whose clock the runner moves, and the tasks that it was told of. */
export class TimerCase extends Case {
  static PROFILE = {
    executor: STEPPED ? "stepped" : "inline",
    severe_throw: "as_ordinary",
    release_cancelled: "at_once",
    features: [
      "cancel", "readd", "change_delay", "elapse", "shutdown", "script_throw",
      "script_throw_severe", "script_add", "script_cancel", "script_advance", "reachable",
      ...(STEPPED ? ["refuse"] : []),
    ],
    observables: ["size", "queued", "advance_result"],
  };
  /** @type {[Function, string][]} */
  static REASONS = [
    [TooLarge, "too_large"],
    [Closed, "closed"],
    [Refused, "refused"],
  ];

  /** @type {Map<string, ScriptedTask>} */
  tasks = new Map();

  /** @param {Configuration} asked */
  constructor(asked) {
    super();
    // A wheel takes asked.wheel_size, too.
    this.timer = new NaiveTimer(asked.tick_ms ?? 1, asked.start_ms ?? 0);
  }

  /** The task of a name. @param {string} name */
  task(name) {
    const task = this.tasks.get(name) ?? new ScriptedTask(new Script(this, name));
    this.tasks.set(name, task);
    return task;
  }

  /** Calls what a step or an action of a task asks for.
   * @param {string} kind @param {Operation | Action} asked */
  call(kind, asked) {
    const { task = "", delay_ms = 0, to_ms = this.timer.nowMs } = asked;
    switch (kind) {
      case "add":
        return this.add(this.task(task), delay_ms, asked);
      case "cancel":
        return this.timer.cancel(this.task(task));
      case "reachable":
        return this.isReachable(this.tasks, task);
      case "elapse":
        this.timer.nowMs = to_ms;
        return;
      case "advance": // that of a script has no reading: the clock keeps its own
        this.timer.nowMs = to_ms;
        return this.advance("refuse" in asked && asked.refuse === true);
      case "run_one":
        return this.runOne();
      case "shutdown":
        return this.timer.shutDown();
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

  /** @param {boolean} refuse */
  advance(refuse) {
    this.timer.refuses = refuse;
    const due = /** @type {ScriptedTask[]} */ (this.timer.advance());
    if (STEPPED) {
      for (const { script } of due) this.note("expired", script.name);
    } else {
      while (this.timer.queue.length) this.runOne();
    }
    return due.length > 0;
  }

  runOne() {
    try {
      this.timer.runOne();
    } catch (error) { // what a task throws reaches nobody
      if (!(error instanceof ScriptError || error instanceof SevereScriptError)) throw error;
    }
  }

  observed() {
    return { size: this.timer.pending.size, queued: this.timer.queue.length };
  }
}
