// A right timer of another design: a promise for each task, which an abort ends.
import { setTimeout as sleep } from "node:timers/promises";

export class TooLarge extends Error {}

export class TimeoutTimer {
  pending = new Map();

  add(task, delayMs) {
    if (delayMs > 2 ** 31 - 1) throw new TooLarge();
    this.cancel(task);
    const abort = new AbortController();
    this.pending.set(task, abort);
    this.wait(task, delayMs, abort);
  }

  async wait(task, delayMs, abort) {
    try {
      await sleep(delayMs, undefined, { signal: abort.signal });
    } catch {
      return;
    }
    this.pending.delete(task);
    try {
      task.run();
    } catch {
      // what a task throws reaches nobody
    }
  }

  cancel(task) {
    this.pending.get(task)?.abort();
    this.pending.delete(task);
  }
}
