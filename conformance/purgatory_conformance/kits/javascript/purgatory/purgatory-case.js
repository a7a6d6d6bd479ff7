// SPDX-License-Identifier: CC0-1.0
// The purgatory behind the protocol: each step becomes a call. Change names until it calls yours.
import { Case, Unsupported } from "./case.js";
import { Closed, DelayedOperation, NoKeys, Purgatory, Refused, TimeOuts } from "./naive-purgatory.js";
import { OperationScript, ScriptError, SevereScriptError } from "./script.js";
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Configuration} Configuration */
/** @typedef {import("./protocol.js").Operation} Operation */

const STEPPED = process.argv.includes("--stepped"); // expired operations wait for "run_one"

/** An operation that follows a script. */
class ScriptedOperation extends DelayedOperation {
  /** @param {PurgatoryCase} owner @param {OperationScript} script @param {number} delayMs */
  constructor(owner, script, delayMs) {
    super(delayMs);
    this.owner = owner;
    this.script = script;
  }

  tryComplete() {
    return this.script.tried(() => this.forceComplete());
  }

  onComplete() {
    this.owner.callbackTimerSize = this.owner.timer.armed.size;
    this.script.completed();
  }

  onExpiration() {
    this.script.timedOut();
  }
}

/** A purgatory whose clock the runner moves, and the operations that it was told of. */
export class PurgatoryCase extends Case {
  static PROFILE = {
    accounting: "exact",
    check_drops: "as_passed",
    throwing_try: "go_on",
    severe_throw: "as_ordinary",
    executor: STEPPED ? "stepped" : "inline",
    release_cancelled: "at_once",
    features: [
      "force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown", "no_time_outs",
      "script_throw", "script_throw_severe", "script_watch", "script_check",
      "script_cancel_for_key", "script_force", "script_try", "reachable",
      ...(STEPPED ? ["refuse"] : []),
    ],
    observables: [
      "entries", "keys", "stale_entries", "stale_operations", "timer_size", "queued", "pending",
      "estimate", "callback_timer_size",
    ],
  };
  /** @type {[Function, string][]} */
  static REASONS = [
    [ScriptError, "thrown"],
    [SevereScriptError, "thrown"],
    [NoKeys, "invalid_argument"],
    [Closed, "closed"],
    [Refused, "refused"],
  ];

  /** @type {Map<string, ScriptedOperation>} */
  operations = new Map();

  /** @type {number | null} */
  callbackTimerSize = null; // as the last "onComplete" of a step began

  /** @param {Configuration} asked */
  constructor(asked) {
    super();
    // A wheel takes asked.wheel_size, too.
    this.timer = new TimeOuts(asked.tick_ms ?? 1, asked.start_ms ?? 0);
    const { purge_interval = 1000, time_outs = true } = asked;
    this.purgatory = new Purgatory(this.timer, purge_interval, time_outs);
  }

  /** The operation of a name; the step that introduces the name gives the script.
   * @param {Operation | Action} asked */
  named(asked) {
    const { operation: name = "", delay_ms = 0 } = asked;
    const script = "op" in asked && !Array.isArray(asked.script) ? asked.script : {};
    const operation =
      this.operations.get(name) ??
      new ScriptedOperation(this, new OperationScript(this, name, script ?? {}), delay_ms);
    this.operations.set(name, operation);
    return operation;
  }

  /** Calls what a step or an action of a callback asks for.
   * @param {string} kind @param {Operation | Action} asked */
  call(kind, asked) {
    const { key = "", keys = [], to_ms = this.timer.nowMs, task = "" } = asked;
    switch (kind) {
      case "watch":
        return this.purgatory.tryCompleteElseWatch(this.named(asked), keys);
      case "check":
        return this.purgatory.checkAndComplete(key);
      case "cancel_for_key":
        return this.purgatory.cancelForKey(key).map(nameOf);
      case "force":
        return this.named(asked).forceComplete();
      case "satisfy":
        this.named(asked).script.satisfied = true;
        return;
      case "elapse":
        this.timer.nowMs = to_ms;
        return;
      case "advance":
        this.timer.nowMs = to_ms;
        return this.advance("refuse" in asked && asked.refuse === true);
      case "run_one":
        return this.runOne();
      case "reachable":
        return this.isReachable(this.operations, task);
      case "shutdown":
        return this.purgatory.shutDown();
    }
    throw new Unsupported(kind);
  }

  /** @param {boolean} refuse */
  advance(refuse) {
    this.purgatory.refuses = refuse;
    for (const operation of this.purgatory.advance()) {
      if (STEPPED) this.note("expired", nameOf(operation));
    }
    while (this.purgatory.queue.length && !STEPPED) this.runOne();
    this.purgatory.purgeIfDue();
  }

  runOne() {
    try {
      this.purgatory.runOne();
    } catch (error) { // what a callback throws reaches nobody
      if (!(error instanceof ScriptError || error instanceof SevereScriptError)) throw error;
    }
  }

  observed() {
    const { purgatory, timer, callbackTimerSize } = this;
    this.callbackTimerSize = null;
    const stale = purgatory.entries().filter(({ completed }) => completed);
    return {
      entries: purgatory.entries().length,
      keys: purgatory.lists.size,
      stale_entries: stale.length,
      stale_operations: new Set(stale).size,
      timer_size: timer.armed.size,
      queued: purgatory.queue.length,
      pending: purgatory.pending(),
      estimate: purgatory.pending() + stale.length,
      callback_timer_size: callbackTimerSize,
    };
  }
}

/** @param {DelayedOperation} operation */
function nameOf(operation) {
  return /** @type {ScriptedOperation} */ (operation).script.name;
}
