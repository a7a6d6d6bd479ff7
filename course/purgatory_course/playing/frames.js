// The run of a timer as the frames that the viewer draws: the same rows and the same words as
// viewing/runs.py makes from the model. A test compares them, frame by frame.
const purgatory_frames = (() => {
  "use strict";
  const { make, floor_to } = purgatory_timer;
  const MOST_CELLS = 12, MOST_LEVELS = 7;

  function operation_words(operation) {
    switch (operation.op) {
      case "add": return `add ${operation.task}, delay ${operation.delay_ms} ms`;
      case "cancel": return `cancel ${operation.task}`;
      case "elapse": return `let the clock reach ${operation.to_ms}`;
      case "advance": return `advance to ${operation.to_ms}`;
      case "run_one": return "run one task";
      default: return operation.op;
    }
  }

  function outcome_words({ result, rejected, events }) {
    const parts = rejected ? [`rejected: ${rejected}`] : [];
    if (result !== null) parts.push(result ? "popped" : "nothing popped");
    parts.push(...events.map((event) => `${event.task} ${event.kind}`));
    if (!events.length && !rejected && result !== false) parts.push("no event");
    return parts.join(", ");
  }

  const configuration_words = ({ tick_ms = 1, wheel_size = 20, start_ms = 0 }) =>
    `tick ${tick_ms} ms, wheel size ${wheel_size}, clock at ${start_ms}`;

  const names_of = (tasks) => tasks.map((task) => task.name).sort();

  function state_words(timer) {
    const buckets = timer.queued().map(({ level, expiry_ms, tasks }) =>
      `level ${level} at ${expiry_ms}: ${names_of(tasks).join(" ") || "empty"}`);
    const queue = timer.queue.map((task) => task.name);
    return [
      `clock ${timer.now_ms}`,
      `own clock ${timer.own_clock_ms}`,
      timer.rings.length === 1 ? "1 level" : `${timer.rings.length} levels`,
      buckets.length ? `buckets [${buckets.join(", ")}]` : "no buckets",
      `executor's queue ${queue.length ? `[${queue.join(" ")}]` : "empty"}`,
    ].join("; ");
  }

  const box = (words, stale = false) => ({ words, stale, focus: false });

  function rows(timer) {
    const clock = `${timer.now_ms}, the wheel's own ${timer.own_clock_ms}`;
    const queued = timer.queued();
    const boxes = queued.map(({ level, expiry_ms, tasks }) =>
      box(`${expiry_ms} (level ${level})`, !tasks.length));
    let levels = timer.rings.map((_, at) => at + 1);
    if (levels.length > MOST_LEVELS) {
      const used = new Set([1, 2, ...queued.map((bucket) => bucket.level)]);
      levels = levels.filter((level) => used.has(level)).slice(0, MOST_LEVELS);
    }
    return [
      { type: "words", about: "clock", words: clock },
      { type: "levels", about: "wheel", levels: levels.map((level) => row_of(timer, level)) },
      { type: "boxes", about: "delay queue", boxes },
      { type: "boxes", about: "executor", boxes: timer.queue.map((task) => box(task.name)) },
    ];
  }

  // Numbers below zero have places, too.
  const place_of = (number, places) => ((number % places) + places) % places;

  function row_of(timer, level) {
    const tick_ms = timer.tick_of(level), cells = [];
    const start_ms = floor_to(timer.own_clock_ms, tick_ms);
    const end_ms = start_ms + tick_ms * timer.wheel_size;
    const queued = timer.queued().filter((bucket) => bucket.level === level);
    const firsts = timer.wheel_size <= MOST_CELLS
      ? Array.from({ length: timer.wheel_size }, (_, at) => start_ms + at * tick_ms)
      : [start_ms, ...queued.map((bucket) => bucket.expiry_ms)];
    const cell = (first_ms, end_ms, { present = false, bucket = null } = {}) => {
      const order = (one, other) => one.due_ms - other.due_ms || (one.name < other.name ? -1 : 1);
      const tasks = bucket ? [...bucket.tasks].sort(order) : [];
      return {
        first_ms, last_ms: end_ms - 1, place: place_of(first_ms / tick_ms, timer.wheel_size),
        buckets: (end_ms - first_ms) / tick_ms, present, queued: Boolean(bucket),
        tasks: tasks.map(({ name, due_ms }) => ({ name, due_ms })),
      };
    };
    let reached_ms = start_ms;
    for (const first_ms of [...firsts, end_ms]) {
      if (first_ms > reached_ms) cells.push(cell(reached_ms, first_ms));
      if (first_ms < end_ms) {
        const bucket = queued.find(({ expiry_ms }) => expiry_ms === first_ms);
        const present = first_ms === start_ms;
        cells.push(cell(first_ms, first_ms + tick_ms, { present, bucket }));
      }
      reached_ms = first_ms + tick_ms;
    }
    return { level, tick_ms, places: timer.wheel_size, cells };
  }

  // An advance has a frame for each time at which it pops; `outcomes` has what came of each step.
  function run(title, configuration, operations, defect = "") {
    const timer = make(defect, configuration), frames = [], outcomes = [];
    const add = (step, says) =>
      frames.push({ step, says, state: state_words(timer), rows: rows(timer) });
    add(0, "at first");
    operations.forEach((operation, at) => {
      const says = operation_words(operation), before = frames.length;
      let popped = null;
      timer.on_pop = ({ expiry_ms }, down, due) => {
        if (popped && popped.expiry_ms === expiry_ms) frames.pop();
        else popped = { expiry_ms, down: [], due: [] };
        popped.down.push(...down);
        popped.due.push(...due);
        const moves = names_of(popped.down).map((name) =>
          `${name} goes down to level ${timer.task(name).bucket.level}`);
        moves.push(...names_of(popped.due).map((name) => `${name} expires`));
        const move = moves.join(", ") || "the bucket is empty";
        add(at + 1, `${says}: pops the bucket of ${expiry_ms}, ${move}`);
      };
      const outcome = timer.do(operation);
      outcomes.push(outcome);
      if (frames.length === before) add(at + 1, says);
      frames[frames.length - 1].says += ` → ${outcome_words(outcome)}`;
    });
    return { title, about: configuration_words(configuration), frames, outcomes };
  }

  return { run, operation_words, outcome_words };
})();
if (typeof module !== "undefined") module.exports = purgatory_frames;
