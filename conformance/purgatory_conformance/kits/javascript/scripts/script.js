// SPDX-License-Identifier: CC0-1.0
// What a task or an operation under test does: yours calls these from its callbacks.
/** @typedef {import("./case.js").Case} Case */
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Script} Callbacks */

/** What a script throws. */
export class ScriptError extends Error {}

/** The severe one: code that catches errors alone, by "instanceof Error", does not know it. */
export class SevereScriptError {}

/** The script of a task: what it does when it runs. */
export class Script {
  /** @param {Case} owner @param {string} name */
  constructor(owner, name) {
    this.owner = owner;
    this.name = name;
    /** @type {Action[]} */
    this.actions = [];
  }

  ran() {
    this.owner.note("ran", this.name);
    this.act(this.actions);
  }

  /** @param {Action[]} actions */
  act(actions) {
    for (const action of actions) {
      if (action.do === "throw") {
        throw action.sort === "severe" ? new SevereScriptError() : new ScriptError();
      }
      try {
        this.owner.call(action.do, action);
      } catch (error) { // it does not end the script
        this.owner.note("rejected", this.name, { reason: this.owner.reason(error) });
      }
    }
  }
}

/** The script of an operation: its answers to tries, its actions in callbacks. */
export class OperationScript extends Script {
  satisfied = false;

  /** @param {Case} owner @param {string} name @param {Callbacks} asked */
  constructor(owner, name, asked) {
    super(owner, name);
    this.asked = asked;
    this.tries = [...(asked.tries ?? [])];
    this.onTry = [...(asked.on_try ?? [])];
  }

  /** A try: it completes the operation where the script says so.
   * @param {() => boolean} complete */
  tried(complete) {
    this.owner.note("tried", this.name);
    // The last answer stands for all later ones.
    const answer = (this.tries.length > 1 ? this.tries.shift() : this.tries[0]) ?? "wait";
    const completes = this.satisfied || answer === "complete"; // settled before the actions
    this.act(this.onTry.shift() ?? []);
    if (completes) return complete();
    if (answer === "throw") throw new ScriptError();
    if (answer === "throw_severe") throw new SevereScriptError();
    return false;
  }

  completed() {
    this.owner.note("completed", this.name);
    this.act(this.asked.on_complete ?? []);
  }

  timedOut() {
    this.owner.note("timed_out", this.name);
    this.act(this.asked.on_expiration ?? []);
  }
}
