// SPDX-License-Identifier: CC0-1.0
// A naive purgatory: put yours in its place. It knows nothing of the protocol.

/** Nothing is watched after shutdown. */
export class Closed extends Error {}

/** An operation needs a key to be watched under. */
export class NoKeys extends Error {}

/** The executor takes nothing, as one whose queue is full. */
export class Refused extends Error {}

/** Something that can be completed once: by an event, or else by its time-out. */
export class DelayedOperation {
  completed = false;
  /** The time-outs that it was armed in. @type {TimeOuts | null} */
  timer = null;

  /** @param {number} delayMs */
  constructor(delayMs) {
    this.delayMs = delayMs;
  }

  /** Completes it with "forceComplete" if it can be, and says whether it did.
   * @returns {boolean} */
  tryComplete() {
    return false;
  }

  /** Called once, whoever completes the operation. */
  onComplete() {}

  /** Called after "onComplete" if it was the time-out. */
  onExpiration() {}

  /** Completes it; false if somebody else already has. */
  forceComplete() {
    if (this.completed) return false;
    this.completed = true;
    this.timer?.cancel(this);
    this.onComplete();
    return true;
  }

  /** Does the time-out's work in the executor. */
  expire() {
    if (this.forceComplete()) this.onExpiration();
  }
}

/** Operations by the tick in which they are due; a clock that somebody else moves. */
export class TimeOuts {
  /** @type {Map<DelayedOperation, { dueTick: number, number: number }>} */
  armed = new Map();
  armings = 0;

  /** @param {number} tickMs @param {number} startMs */
  constructor(tickMs, startMs) {
    this.tickMs = tickMs;
    this.nowMs = startMs;
  }

  /** @param {DelayedOperation} operation */
  add(operation) {
    operation.timer = this;
    const dueTick = Math.floor((this.nowMs + operation.delayMs) / this.tickMs) * this.tickMs;
    this.armed.set(operation, { dueTick, number: ++this.armings }); // moves it, if it was armed
  }

  /** @param {DelayedOperation} operation */
  cancel(operation) {
    this.armed.delete(operation); // at once: a completed one is not kept until its time-out
  }

  /** What is due at the clock's present reading. */
  due() {
    const due = [...this.armed].filter(([, { dueTick }]) => dueTick <= this.nowMs);
    due.sort(([, a], [, b]) => a.dueTick - b.dueTick || a.number - b.number);
    return due.map(([operation]) => operation);
  }
}

/** Operations under keys; one that is completed elsewhere leaves stale entries. */
export class Purgatory {
  /** @type {Map<string, DelayedOperation[]>} */
  lists = new Map();
  /** @type {DelayedOperation[]} */
  queue = []; // the executor's: expired, not yet run
  refuses = false; // whether the executor does
  closed = false;

  /** @param {TimeOuts} timer @param {number} purgeInterval @param {boolean} timeOuts */
  constructor(timer, purgeInterval, timeOuts) {
    this.timer = timer;
    this.purgeInterval = purgeInterval;
    this.timeOuts = timeOuts;
  }

  /** @param {DelayedOperation} operation @param {string[]} keys */
  tryCompleteElseWatch(operation, keys) {
    if (this.closed) throw new Closed("the purgatory is shut down");
    if (!keys.length) throw new NoKeys();
    if (operation.completed) return false;
    const answer = operation.tryComplete();
    if (answer || operation.completed) return answer;
    for (const key of keys) {
      const watched = this.watched(key);
      watched.push(operation);
      this.keep(key, watched);
    }
    if (this.timeOuts) this.timer.add(operation); // before the second try, which may throw
    return operation.tryComplete();
  }

  /** Tries what waits under the key; the first error is thrown after all were tried.
   * @param {string} key */
  checkAndComplete(key) {
    let completed = 0;
    const thrown = [];
    for (const operation of [...this.watched(key)]) {
      try {
        if (!operation.completed && operation.tryComplete()) completed += 1;
      } catch (error) { // whatever its class, it is thrown in the end
        thrown.push(error);
      }
      if (operation.completed) { // only the entry that is met goes now, not those passed before
        const watched = this.watched(key);
        const place = watched.indexOf(operation);
        if (place >= 0) watched.splice(place, 1); // or a callback has taken it already
        this.keep(key, watched);
      }
    }
    if (thrown.length) throw thrown[0];
    return completed;
  }

  /** @param {string} key */
  cancelForKey(key) {
    const cancelled = this.watched(key);
    this.lists.delete(key);
    for (const operation of cancelled) {
      const isWatched = [...this.lists.values()].some((watched) => watched.includes(operation));
      if (!isWatched) this.timer.cancel(operation);
    }
    return cancelled;
  }

  /** Hands over what is due, and answers it; "runOne" runs it, "purgeIfDue" follows.
   *
   * What the executor refuses stays in the timer, and the next advance hands it over. */
  advance() {
    if (this.closed) return [];
    const due = this.timer.due();
    if (due.length && this.refuses) throw new Refused("the executor takes nothing");
    for (const operation of due) this.timer.cancel(operation);
    this.queue.push(...due);
    return due;
  }

  runOne() {
    this.queue.shift()?.expire();
  }

  purgeIfDue() {
    if (this.staleEntries() > this.purgeInterval) {
      for (const [key, watched] of this.lists) {
        this.keep(key, watched.filter(({ completed }) => !completed));
      }
    }
  }

  shutDown() {
    this.closed = true;
  }

  /** @param {string} key */
  watched(key) {
    return this.lists.get(key) ?? [];
  }

  /** Makes the list that of the key; an empty one is dropped.
   * @param {string} key @param {DelayedOperation[]} watched */
  keep(key, watched) {
    if (watched.length) this.lists.set(key, watched);
    else this.lists.delete(key);
  }

  entries() {
    return [...this.lists.values()].flat();
  }

  staleEntries() {
    return this.entries().filter(({ completed }) => completed).length;
  }

  pending() {
    return this.timer.armed.size + this.queue.length;
  }
}
