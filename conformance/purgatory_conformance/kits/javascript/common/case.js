// SPDX-License-Identifier: CC0-1.0
// An instance that is made, asked step by step, and dropped.
/** @typedef {import("./protocol.js").Action} Action */
/** @typedef {import("./protocol.js").Event} Event */
/** @typedef {import("./protocol.js").Observed} Observed */
/** @typedef {import("./protocol.js").Operation} Operation */
/** @typedef {import("./protocol.js").Outcome} Outcome */
/** @typedef {import("./protocol.js").Profile} Profile */
/** @typedef {import("./protocol.js").Result} Result */

/** This implementation has no such operation. */
export class Unsupported extends Error {}

/** A name that stands for nothing. */
export class UnknownName extends Error {}

/** An instance of a component: a subclass makes it, calls it, and shows its counts. */
export class Case {
  /** The declared choices. @type {Profile} */
  static PROFILE = {};

  /** Each class of what the implementation throws to refuse, as a word of the protocol.
   * @type {[Function, string][]} */
  static REASONS = [];

  /** @type {Event[]} */
  events = [];

  /** @type {Map<string, WeakRef<object>>} */
  dropped = new Map();

  /** Calls the implementation; the result, or undefined where there is none.
   * @param {string} kind @param {Operation | Action} asked
   * @returns {Result | Promise<Result>} */
  call(kind, asked) {
    throw new Unsupported(`${kind}, ${asked}`);
  }

  /** Reads the declared observables. @returns {Observed} */
  observed() {
    return {};
  }

  /** Reads a clock that moves by itself; undefined where the runner moves it.
   * @returns {number | undefined} */
  nowMs() {
    return undefined;
  }

  /** Releases what outlives the instance, such as a timeout of the event loop. */
  end() {}

  /** @param {Event["kind"]} kind @param {string} task @param {Partial<Event>} more */
  note(kind, task, more = {}) {
    this.events.push({ kind, task, ...more });
  }

  /** Drops the object of a name, for good; does anybody else still hold it?
   * @param {Map<string, object>} named @param {string} name */
  async isReachable(named, name) {
    if (named.has(name)) this.dropped.set(name, new WeakRef(named.get(name) ?? {}));
    named.delete(name);
    // Nothing is collected that a weak reference was made of, or read, in the same turn.
    await new Promise(setImmediate);
    globalThis.gc?.();
    return this.dropped.get(name)?.deref() !== undefined;
  }

  /** The protocol's word for a refusal; "internal" for what nobody planned.
   * @param {unknown} error */
  reason(error) {
    if (error instanceof UnknownName) return "unknown_name";
    const { REASONS } = /** @type {typeof Case} */ (this.constructor);
    return REASONS.find(([kind]) => error instanceof kind)?.[1] ?? "internal";
  }

  /** Carries out a step; the outcome with result or rejection, events and observables.
   * @param {Operation} operation @returns {Promise<Outcome>} */
  async carryOut(operation) {
    /** @type {Outcome} */
    const outcome = {};
    const calledMs = this.nowMs();
    try {
      outcome.result = await this.call(operation.op, operation);
    } catch (error) {
      if (error instanceof Unsupported) {
        return { unsupported: `there is no operation ${operation.op} here` };
      }
      outcome.rejected = this.reason(error);
      outcome.detail = String(error);
    }
    if (calledMs !== undefined) {
      Object.assign(outcome, { called_ms: calledMs, returned_ms: this.nowMs() });
    }
    const events = this.events.splice(0);
    return { ...outcome, events, observed: this.observed() };
  }
}
