// The page to play on: a wheel whose tick, size and delays one changes, and a hunt for a defect. It
// loads nothing and keeps nothing.
(() => {
  "use strict";
  const { make, PROFILE } = purgatory_timer, { run, operation_words, outcome_words } = purgatory_frames;
  const NAMES = "abcdefgh", MOST_READINGS = 200;

  const element = (name, words, kind = "") =>
    Object.assign(document.createElement(name), { textContent: words, className: kind });

  // A wheel to change

  function delays_of(text) {
    const words = text.split(/[\s,;]+/).filter(Boolean), delays = words.map(Number);
    if (!words.length) throw new Error("Give the delays: numbers with commas between them.");
    if (words.length > NAMES.length) throw new Error(`Give at most ${NAMES.length} delays.`);
    const wrong = words.find((_, at) => !Number.isInteger(delays[at]) || delays[at] < 0 || delays[at] > 1e6);
    if (wrong) throw new Error(`A delay is a whole number of ms from 0 to 1000000, and not ${wrong}.`);
    return delays;
  }

  // Adds every task at 0, then reads the clock until none is pending; notes the way of each task.
  function played(configuration, delays, every_ms) {
    const timer = make("", configuration), operations = [], ways = new Map();
    const note = (task) => ways.get(task.name).buckets.push(
      `level ${task.bucket.level} at ${task.bucket.expiry_ms}`);
    const step = (operation) => {
      operations.push(operation);
      const { events } = timer.do(operation);
      for (const { task } of events) ways.get(task).expired_ms = timer.now_ms;
    };
    timer.on_pop = (bucket, down) => down.forEach(note);
    delays.forEach((delay_ms, at) => {
      const task = NAMES[at];
      ways.set(task, { delay_ms, buckets: [], expired_ms: null });
      step({ op: "add", task, delay_ms });
      if (timer.task(task).fate === "pending") note(timer.task(task));
    });
    for (let reading = 0; timer.pending; reading += 1) {
      if (reading === MOST_READINGS) {
        throw new Error(`More than ${MOST_READINGS} readings of the clock: take a larger step.`);
      }
      const to_ms = every_ms ? timer.now_ms + every_ms : timer.observed().next_expiry_ms;
      step({ op: "advance", to_ms });
    }
    const title = `${delays.length} ${delays.length === 1 ? "task" : "tasks"}, ${operations.length} steps`;
    const seen = run(title, configuration, operations);
    for (const [name, way] of ways) way.due_ms = timer.task(name).due_ms;
    return { seen, ways };
  }

  function play_wheel(root) {
    const form = root.querySelector("form"), says = root.querySelector(".play-says");
    const figure = root.querySelector(".purgatory-viewer"), body = root.querySelector("tbody");

    function show() {
      const of = (name) => form.elements[name].valueAsNumber;
      try {
        const wrong = [...form.elements].find((each) => !each.checkValidity());
        if (wrong) throw new Error(`${wrong.parentElement.textContent.trim()}: ${wrong.validationMessage}`);
        const configuration = { tick_ms: of("tick_ms"), wheel_size: of("wheel_size") };
        const { seen, ways } = played(configuration, delays_of(form.elements.delays.value), of("every_ms"));
        figure.show_run(seen, ways.size);
        const lines = [...ways].map(([name, way]) => {
          const early_ms = way.delay_ms - way.expired_ms;
          const off = early_ms > 0 ? `, ${early_ms} ms early` : early_ms < 0 ? `, ${-early_ms} ms late` : "";
          const cells = [name, way.delay_ms, way.due_ms, way.buckets.join(", then ") || "none",
            `${way.expired_ms}${off}`];
          const line = element("tr", "");
          line.append(...cells.map((words) => element("td", words)));
          return line;
        });
        body.replaceChildren(...lines);
        const levels = seen.outcomes[seen.outcomes.length - 1].observed.levels;
        const pops = seen.frames.filter((frame) => frame.says.includes("pops the bucket")).length;
        says.textContent = `${levels} ${levels === 1 ? "level" : "levels"}, ` +
          `${pops} ${pops === 1 ? "bucket" : "buckets"} popped.`;
        says.classList.remove("play-differs");
      } catch (error) {
        says.textContent = error.message;
        says.classList.add("play-differs");
      }
    }

    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    root.classList.add("ready");
    show();
  }

  // A hunt for a defect

  const parts_of = (outcome) => [
    outcome_words(outcome),
    ...Object.entries(outcome.observed).map(([name, value]) => `${name} ${value ?? "none"}`),
  ];

  // A line with the parts of an outcome, those in bold that another outcome does not have.
  function told(label, outcome, other) {
    const line = element("span", `${label}: `, outcome === other ? "" : "play-differs");
    const others = parts_of(other);
    parts_of(outcome).forEach((part, at) => {
      if (at) line.append(", ");
      line.append(part === others[at] ? part : element("strong", part));
    });
    return line;
  }

  // What is expected and what is seen of each step, up to the first that differs.
  function compared(name, configuration, operations) {
    const right = make("", configuration), wrong = make(name, configuration), steps = [];
    for (const operation of operations) {
      const step = { operation, expected: right.do(operation), seen: wrong.do(operation) };
      step.differs = JSON.stringify(step.expected) !== JSON.stringify(step.seen);
      steps.push(step);
      if (step.differs) break;
    }
    return steps;
  }

  function case_file(hunt, operations) {
    const header = {
      component: "timer", case: `hunt-${hunt.name}`, title: "A hunt", configuration: hunt.configuration,
      profile: PROFILE,
    };
    return [header, ...operations.map((operation) => ({ operation }))]
      .map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  function play_hunt(root) {
    const hunts = JSON.parse(root.querySelector("script").textContent);
    const form = root.querySelector("form"), says = root.querySelector(".play-says");
    const list = root.querySelector(".play-steps"), found = root.querySelector(".play-found");
    const figure = root.querySelector(".purgatory-viewer");
    const field = (name) => form.elements[name];
    let hunt = hunts[0], operations = [], shown_answer = false;

    const is_found = (steps) => steps.length > 0 && steps[steps.length - 1].differs;

    function show() {
      const steps = compared(hunt.name, hunt.configuration, operations);
      const { tick_ms = 1, wheel_size = 20, start_ms = 0 } = hunt.configuration, par = hunt.steps.length;
      root.querySelector(".play-about").textContent =
        `Tick ${tick_ms} ms, wheel size ${wheel_size}, clock at ${start_ms}. Par is ${par}.`;
      list.replaceChildren(...steps.map(({ operation, expected, seen, differs }) => {
        const item = element("li", "");
        item.append(operation_words(operation));
        if (!differs) item.append(told("as expected", seen, seen));
        else item.append(told("expected", expected, expected), told("seen", seen, expected));
        return item;
      }));
      const seen = run("What is expected", hunt.configuration, operations);
      figure.show_run(seen, seen.frames.length - 1);
      found.hidden = !is_found(steps);
      if (!found.hidden) tell(steps.length, par);
      else says.textContent = steps.length
        ? `${steps.length} of par ${par}: no difference yet.`
        : "Add a task to begin. The picture shows what a right timer does.";
      for (const each of root.querySelectorAll("fieldset button")) each.disabled = !found.hidden;
    }

    function tell(count, par) {
      const better = count < par ? ", fewer than the suite" : count === par ? ", as few as the suite" : "";
      says.textContent = shown_answer
        ? `The suite's way: ${count} steps.`
        : `Found in ${count} ${count === 1 ? "step" : "steps"}${better}; par is ${par}.`;
      const words = `${hunt.title} The rule is ${hunt.rule}. The same defect in Python: `;
      const command = element("code", `purgatory check mutant:${hunt.name}`);
      found.querySelector("p").replaceChildren(words, command);
      found.querySelector("pre").textContent = case_file(hunt, operations);
    }

    function whole(name) {
      const value = field(name).valueAsNumber;
      if (Number.isSafeInteger(value)) return value;
      throw new Error(`${field(name).parentElement.textContent.trim()}: give a whole number.`);
    }

    function to_ms() {
      const to = whole("to_ms"), start_ms = hunt.configuration.start_ms ?? 0;
      const now = operations.reduce((last, each) => each.to_ms ?? last, start_ms);
      if (to >= now) return to;
      throw new Error(`The clock reads ${now}, and does not go back.`);
    }

    const NEXT = {
      add: () => ({ op: "add", task: field("task").value, delay_ms: whole("delay_ms") }),
      cancel: () => ({ op: "cancel", task: field("task").value }),
      advance: () => ({ op: "advance", to_ms: to_ms() }),
      elapse: () => ({ op: "elapse", to_ms: to_ms() }),
      run_one: () => ({ op: "run_one" }),
    };

    function press(what) {
      if (what in NEXT) {
        if (!found.hidden) return;
        try {
          operations = [...operations, NEXT[what]()];
        } catch (error) {
          says.textContent = error.message;
          return;
        }
      } else {
        operations = { undo: operations.slice(0, -1), again: [], answer: hunt.steps }[what];
        shown_answer = what === "answer";
      }
      show();
    }

    function choose() {
      hunt = hunts[field("hunt").selectedIndex];
      operations = [];
      shown_answer = false;
      field("to_ms").value = hunt.configuration.start_ms ?? 0;
      show();
    }

    field("hunt").append(...hunts.map((each, at) => element("option", `timer ${at + 1}, par ${each.steps.length}`)));
    field("hunt").addEventListener("change", choose);
    for (const each of root.querySelectorAll("button[data-do]")) {
      each.addEventListener("click", () => press(each.dataset.do));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("keydown", (event) => {
      const what = { delay_ms: "add", to_ms: "advance" }[event.target.name];
      if (event.key !== "Enter" || !what) return;
      event.preventDefault();
      press(what);
    });
    root.classList.add("ready");
    choose();
  }

  for (const root of document.querySelectorAll("[data-play=wheel]")) play_wheel(root);
  for (const root of document.querySelectorAll("[data-play=hunt]")) play_hunt(root);
})();
