// A right timer of another design: one time-out for the earliest task, and a clock that is read.
import { clearTimeout, setTimeout } from "node:timers";

export class TooLarge extends Error {}

export class TimeoutTimer {
  pending = new Map();
  timeout = undefined;

  add(task, delayMs) {
    if (delayMs > 2 ** 31 - 1) throw new TooLarge();
    this.pending.delete(task);
    this.pending.set(task, performance.now() + Math.max(0, delayMs));
    this.arm();
  }

  cancel(task) {
    this.pending.delete(task);
    this.arm();
  }

  arm() {
    clearTimeout(this.timeout);
    const earliest = Math.min(...this.pending.values());
    if (earliest < Infinity) {
      this.timeout = setTimeout(() => this.expire(), earliest - performance.now());
    }
  }

  expire() {
    const due = [...this.pending].filter(([, dueMs]) => dueMs <= performance.now());
    for (const [task] of due.sort(([, one], [, other]) => one - other)) {
      if (!this.pending.delete(task)) continue; // one before it has cancelled it
      try {
        task.run();
      } catch {
        // what a task throws reaches nobody
      }
    }
    this.arm();
  }
}
