// SPDX-License-Identifier: CC0-1.0
// The packages, unmodified, on a clock that the suite moves: that of @sinonjs/fake-timers, which
// takes the place of setTimeout, clearTimeout, Date and process.hrtime.
"use strict";
const { join } = require("node:path");

const CLOCK = "@sinonjs/fake-timers";

// What every package here has in common; each says why where it differs.
const PROFILE = {
  rounding: "exact",
  negative_delay: "as_zero", // setTimeout takes a negative delay for zero
  larger_delay: "not_offered",
  features: ["cancel", "readd", "change_delay"],
  observables: [],
};

// A timer that is made of one-shot timers: what is armed again is cancelled before.
class OneShots {
  constructor(clock, set, clear, ran) {
    Object.assign(this, { clock, set, clear, ran });
    this.armed = new Map();
  }

  add(task, delay_ms, script) {
    this.cancel(task);
    this.armed.set(task, this.set(() => this.run(task, script), delay_ms));
  }

  cancel(task) {
    if (this.armed.has(task)) this.clear(this.armed.get(task));
    this.armed.delete(task);
  }

  run(task, script) {
    this.armed.delete(task);
    this.ran(task);
    for (const action of script) {
      if (action.do === "throw") throw new Error("the script says so");
      if (action.do === "cancel") this.cancel(action.task);
    }
  }

  advance(to_ms) {
    try {
      this.clock.tick(to_ms - this.clock.now);
    } catch (error) {
      if (error.message !== "the script says so") throw error;
    }
  }

  observed() { return {}; }

  close() {}
}

class FakeTimers extends OneShots {
  constructor(clock, ran) {
    super(clock, (call, delay_ms) => clock.setTimeout(call, delay_ms), clock.clearTimeout, ran);
  }

  observed() { return { size: this.clock.countTimers() }; }
}

// Timers that have a method to move them. A moved timer may run 1 ms late, as setTimeout takes 0
// for 1: a millisecond of the suite stands for ten, and a delay ends a little before its tenth.
const STEP_MS = 10;
const EARLY_MS = 3;

class Retimers extends OneShots {
  add(task, delay_ms) {
    const delay = Math.max(delay_ms * STEP_MS - EARLY_MS, 0);
    if (this.armed.has(task)) {
      this.armed.get(task).reschedule(delay);
    } else {
      super.add(task, delay, []);
    }
  }

  advance(to_ms) { super.advance(to_ms * STEP_MS); }
}

// Its first ring has slots of 1,024 ms: a millisecond of the suite stands for one of them.
const SLOT_MS = 1024;
const SMALLEST_DELAY_MS = 1000; // documented; it ends with the next slot

class TimerWheel {
  constructor(modules, clock, start_ms, ran) {
    const { ReschedulingTimerWheel } = require(join(modules, "timer-wheel"));
    Object.assign(this, { clock, ran });
    this.move(start_ms);
    this.wheel = new ReschedulingTimerWheel();
    this.handles = new Map();
  }

  add(task, delay_ms) {
    this.handles.set(task, this.wheel.schedule(task, Math.max(delay_ms * SLOT_MS, SMALLEST_DELAY_MS)));
  }

  cancel(task) {
    this.handles.get(task)?.remove();
    this.handles.delete(task);
  }

  move(to_ms) { this.clock.setSystemTime(to_ms * SLOT_MS); }

  advance(to_ms) {
    this.move(to_ms);
    for (const task of this.wheel.advance()) this.ran(task);
  }

  observed() { return {}; }

  close() {}
}

// Schedulers of jobs at a date, which may not lie in the past: what is due now is due with the next
// tick. As above, a millisecond of the suite stands for ten.
class Dated extends OneShots {
  constructor(clock, schedule, cancel, ran) {
    const set = (call, delay_ms) => {
      const delay = Math.max(delay_ms * STEP_MS - STEP_MS / 2, 1);
      return schedule(new Date(Date.now() + delay), call);
    };
    super(clock, set, cancel, ran);
  }

  advance(to_ms) { super.advance(to_ms * STEP_MS); }
}

// Loads a package that keeps something of the clock, or jobs, from one instance to the next.
function loadedAnew(modules, name) {
  for (const path of Object.keys(require.cache)) {
    if (path.startsWith(join(modules, name))) delete require.cache[path];
  }
  return require(join(modules, name));
}

// In place of the real functions; only one such clock at a time.
function installed(modules, now) {
  const faked = require(join(modules, CLOCK));
  installed.clock?.uninstall();
  const toFake = ["setTimeout", "clearTimeout", "Date", "hrtime"];
  installed.clock = faked.install({ now, toFake, loopLimit: 10_000_000 });
  return installed.clock;
}

const DATED = {
  ...PROFILE,
  already_due: "next_tick",
  negative_delay: "not_offered", // a date in the past is an error, or no job
};

const SUBJECTS = {
  [CLOCK]: {
    source: "https://github.com/sinonjs/fake-timers",
    profile: {
      ...PROFILE,
      same_tick_order: "fifo",
      // Inside a task the clock stands at the task's own time: no script that adds.
      features: [...PROFILE.features, "negative_clock", "script_throw", "script_cancel"],
      observables: ["size"],
    },
    make: (modules, start_ms, ran) =>
      new FakeTimers(require(join(modules, CLOCK)).createClock(start_ms), ran),
  },
  "timer-wheel": {
    source: "https://github.com/aholstenson/timer-wheel",
    profile: {
      ...PROFILE,
      // An advance returns what has expired: no order is documented.
      executor: "threads",
      already_due: "next_tick", // what is below the smallest delay waits for that
      // No elapse: the smallest delay counts from the reading, and the next tick from the wheel.
      features: [...PROFILE.features, "negative_clock"],
    },
    make: (modules, start_ms, ran) => new TimerWheel(modules, installed(modules, 0), start_ms, ran),
  },
  "long-timeout": {
    source: "https://github.com/tellnes/long-timeout",
    profile: {
      ...PROFILE,
      // No limit is documented; the clock takes a step for each 2^31 ms of a delay.
      largest_delay_ms: 2 ** 41,
      features: [...PROFILE.features, "negative_clock"],
    },
    make: (modules, start_ms, ran) => {
      const { setTimeout, clearTimeout } = require(join(modules, "long-timeout"));
      return new OneShots(installed(modules, start_ms), setTimeout, clearTimeout, ran);
    },
  },
  "safe-timers": {
    source: "https://github.com/Wizcorp/safe-timers",
    profile: {
      ...PROFILE,
      // No limit is documented; the clock takes a step for each 2^31 ms of a delay.
      largest_delay_ms: 2 ** 41,
      features: [...PROFILE.features, "negative_clock"],
    },
    make: (modules, start_ms, ran) => {
      const clock = installed(modules, start_ms);
      const { setTimeout, clearTimeout } = require(join(modules, "safe-timers"));
      return new OneShots(clock, setTimeout, clearTimeout, ran);
    },
  },
  retimer: {
    source: "https://github.com/mcollina/retimer",
    profile: { ...PROFILE, largest_delay_ms: Math.floor((2 ** 31 - 1) / STEP_MS) },
    make: (modules, start_ms, ran) => {
      const clock = installed(modules, start_ms * STEP_MS);
      const retimer = loadedAnew(modules, "retimer"); // it keeps the functions that it finds
      return new Retimers(clock, retimer, (timer) => timer.clear(), ran);
    },
  },
  "long-settimeout": {
    source: "https://github.com/Kamahl19/long-settimeout",
    profile: {
      ...PROFILE,
      // No limit is documented; the clock takes a step for each 2^31 ms of a delay.
      largest_delay_ms: 2 ** 41,
      features: [...PROFILE.features, "negative_clock"],
    },
    make: (modules, start_ms, ran) => {
      const { setLongTimeout, clearLongTimeout } = require(join(modules, "long-settimeout"));
      return new OneShots(installed(modules, start_ms), setLongTimeout, clearLongTimeout, ran);
    },
  },
  "node-schedule": {
    source: "https://github.com/node-schedule/node-schedule",
    profile: DATED,
    make: (modules, start_ms, ran) => {
      const clock = installed(modules, start_ms * STEP_MS);
      const { scheduleJob } = loadedAnew(modules, "node-schedule"); // it keeps its jobs
      return new Dated(clock, scheduleJob, (job) => job.cancel(), ran);
    },
  },
  cron: {
    source: "https://github.com/kelektiv/node-cron",
    profile: DATED,
    make: (modules, start_ms, ran) => {
      const clock = installed(modules, start_ms * STEP_MS);
      const { CronJob } = require(join(modules, "cron"));
      const schedule = (cronTime, onTick) => CronJob.from({ cronTime, onTick, start: true });
      return new Dated(clock, schedule, (job) => job.stop(), ran);
    },
  },
  croner: {
    source: "https://github.com/Hexagon/croner",
    profile: DATED,
    make: (modules, start_ms, ran) => {
      const clock = installed(modules, start_ms * STEP_MS);
      const { Cron } = require(join(modules, "croner"));
      return new Dated(clock, (date, call) => new Cron(date, call), (job) => job.stop(), ran);
    },
  },
};

function subject(name, modules) {
  if (!(name in SUBJECTS)) throw new Error(`there is no ${name} here`);
  const { source, profile, make } = SUBJECTS[name];
  return { source, profile, make: (start_ms, ran) => make(modules, start_ms, ran) };
}

module.exports = { subject };
