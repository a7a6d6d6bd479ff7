// SPDX-License-Identifier: CC0-1.0
// A timing wheel in JavaScript, written from the rules in spec/timer.md, and timers that have one
// defect each. The page to play on runs them in a browser; adapter.js puts them behind the
// protocol, where the suite judges them. Times are whole milliseconds.
const purgatory_timer = (() => {
  "use strict";
  const LARGEST_DELAY_MS = 2 ** 31 - 1;

  const PROFILE = {
    executor: "stepped",
    structure: "delay_queue_wheel",
    largest_delay_ms: LARGEST_DELAY_MS,
    features: ["cancel", "readd", "elapse", "negative_clock"],
    observables: [
      "advance_result", "levels", "next_expiry_ms", "queued", "queued_buckets", "size",
      "wheel_clock_ms",
    ],
  };

  // On a number that is none the wheel would add levels for ever.
  const whole = (value, least = Number.MIN_SAFE_INTEGER) => {
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new RangeError(`${value} is no whole number from ${least}`);
  };

  const floor_to = (time_ms, tick_ms) => Math.floor(time_ms / tick_ms) * tick_ms;

  // Each decision is one short method, so that a timer with one defect overrides one method.
  class Timer {
    constructor({ tick_ms = 1, wheel_size = 20, start_ms = 0 } = {}) {
      Object.assign(this, { tick_ms: whole(tick_ms, 1), wheel_size: whole(wheel_size, 2) });
      this.now_ms = whole(start_ms);
      this.own_clock_ms = floor_to(start_ms, tick_ms);
      this.rings = [];       // for each level its buckets, by their place in the array
      this.delay_queue = []; // the buckets that wait to be popped
      this.tasks = new Map();
      this.queue = [];       // the executor's
      this.pending = 0;
      this.on_pop = null;    // who draws is told of each pop
      this.add_level();
    }

    // The outcome of a step, as the protocol has it.
    do(operation) {
      this.events = [];
      const { result = null, ...refusal } = this.perform(operation);
      return { result, ...refusal, events: this.events, observed: this.observed() };
    }

    perform(operation) {
      switch (operation.op) {
        case "add": return this.add(this.task(operation.task), whole(operation.delay_ms));
        case "cancel": this.cancel(this.task(operation.task)); return {};
        case "elapse": this.now_ms = whole(operation.to_ms); return {};
        case "advance": this.now_ms = whole(operation.to_ms); return { result: this.advance() };
        case "run_one": this.run_one(); return {};
        default: return { unsupported: `${operation.op} is not offered` };
      }
    }

    task(name) {
      if (!this.tasks.has(name)) this.tasks.set(name, { name, fate: "never armed", due_ms: 0 });
      return this.tasks.get(name);
    }

    add(task, delay_ms) {
      if (delay_ms > LARGEST_DELAY_MS) return { rejected: "too_large" };
      if (task.fate === "pending") this.move_away(task);
      task.due_ms = this.due_tick(this.now_ms + delay_ms);
      if (task.due_ms <= this.own_clock_ms) {
        this.hand_over(task);
      } else {
        task.fate = "pending";
        this.pending += 1;
        this.put(task);
      }
      return {};
    }

    due_tick(expiry_ms) { return floor_to(expiry_ms, this.tick_ms); }

    cancel(task) {
      if (task.fate !== "pending") return;
      task.fate = "cancelled";
      this.pending -= 1;
      this.leave(task);
    }

    move_away(task) {
      this.pending -= 1;
      this.leave(task);
    }

    leave(task) { task.bucket.tasks.splice(task.bucket.tasks.indexOf(task), 1); }

    // Levels are counted from 1.
    tick_of(level) { return this.tick_ms * this.wheel_size ** (level - 1); }

    covers(level, due_ms) {
      const tick_ms = this.tick_of(level);
      return due_ms < floor_to(this.own_clock_ms, tick_ms) + tick_ms * this.wheel_size;
    }

    add_level() {
      const level = this.rings.length + 1;
      const bucket = () => ({ level, expiry_ms: 0, tasks: [] });
      this.rings.push(Array.from({ length: this.wheel_size }, bucket));
    }

    put(task) {
      let level = 1;
      while (!this.covers(level, task.due_ms)) {
        level += 1;
        if (level > this.rings.length) this.add_level();
      }
      const first_ms = floor_to(task.due_ms, this.tick_of(level));
      const turns = first_ms / this.tick_of(level);
      const place = turns - floor_to(turns, this.wheel_size);
      task.bucket = this.rings[level - 1][place];
      task.bucket.tasks.push(task);
      this.offer(task.bucket, first_ms);
    }

    offer(bucket, expiry_ms) {
      if (this.delay_queue.includes(bucket)) return;
      bucket.expiry_ms = expiry_ms;
      this.delay_queue.push(bucket);
    }

    // The delay queue in the order of the pops.
    queued() {
      const order = (one, other) => one.expiry_ms - other.expiry_ms || one.level - other.level;
      return [...this.delay_queue].sort(order);
    }

    is_ready(bucket) { return bucket.expiry_ms <= this.now_ms; }

    advance() {
      let popped = false;
      for (;;) {
        const [first] = this.queued();
        if (!first || !this.is_ready(first)) return popped;
        popped = true;
        this.pop(first);
      }
    }

    pop(bucket) {
      this.delay_queue.splice(this.delay_queue.indexOf(bucket), 1);
      this.own_clock_ms = bucket.expiry_ms;
      const held = bucket.tasks, due = held.filter((task) => this.comes_due(task));
      bucket.tasks = [];
      const down = held.filter((task) => !due.includes(task));
      for (const task of down) this.pass_down(task);
      this.pending -= due.length;
      for (const task of due) this.hand_over(task);
      if (this.on_pop) this.on_pop(bucket, down, due);
    }

    comes_due(task) { return task.due_ms <= this.own_clock_ms; }

    pass_down(task) { this.put(task); }

    hand_over(task) {
      task.fate = "expired";
      this.events.push({ kind: "expired", task: task.name });
      this.queue.push(task);
    }

    run_one() {
      if (this.queue.length) this.events.push({ kind: "ran", task: this.next_to_run().name });
    }

    next_to_run() { return this.queue.shift(); }

    observed() {
      const [first] = this.queued();
      return {
        levels: this.rings.length,
        next_expiry_ms: first ? first.expiry_ms : null,
        queued: this.queue.length,
        queued_buckets: this.delay_queue.length,
        size: this.pending,
        wheel_clock_ms: this.own_clock_ms,
      };
    }
  }

  // Under the names of the suite's own wrong timers, `purgatory check mutant:NAME`.
  const DEFECTS = {
    "one-tick-late": class extends Timer {
      is_ready(bucket) { return bucket.expiry_ms < this.now_ms; }
    },
    "rounds-up": class extends Timer {
      due_tick(expiry_ms) { return super.due_tick(expiry_ms + this.tick_ms - 1); }
    },
    "cancel-counts-twice": class extends Timer {
      cancel(task) {
        if (task.fate === "cancelled") this.pending -= 1;
        super.cancel(task);
      }
    },
    "one-bucket-per-advance": class extends Timer {
      advance() {
        const [first] = this.queued();
        if (!first || !this.is_ready(first)) return false;
        this.pop(first);
        return true;
      }
    },
    "lost-on-cascade": class extends Timer {
      pass_down() {}
    },
    "expires-with-its-bucket": class extends Timer {
      comes_due() { return true; }
    },
    "readd-leaves-old-arming": class extends Timer {
      move_away(task) {
        const entries = task.bucket.tasks;
        entries[entries.indexOf(task)] = { ...task };
        this.pending -= 1;
      }
    },
    "last-in-first-out": class extends Timer {
      next_to_run() { return this.queue.pop(); }
    },
    "lost-on-reuse": class extends Timer {
      offer(bucket, expiry_ms) {
        if (bucket.was_used) return;
        bucket.was_used = true;
        super.offer(bucket, expiry_ms);
      }
    },
    "third-level-too-wide": class extends Timer {
      covers(level, due_ms) {
        return super.covers(level, due_ms - (level === 3 ? this.tick_of(level) : 0));
      }
    },
  };

  const make = (name, configuration) => new (name ? DEFECTS[name] : Timer)(configuration);

  return { make, DEFECTS, PROFILE, floor_to };
})();
if (typeof module !== "undefined") module.exports = purgatory_timer;
