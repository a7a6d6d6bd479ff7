// Draws the runs of a page: each figure holds its frames as JSON, and this script steps through
// them. It loads nothing and keeps nothing. A row is a list of boxes, words, a budget of bytes, or
// the levels of a timing wheel; the names are those of the structures in Python.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const LABEL = 92, LINE = 24, BOX = 20, GAP = 6, LETTER = 7.4, NARROW = 480;
  const PLAY_MS = 1600, MOVE_MS = 450;

  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  function make(parent, name, attributes, words) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (words !== undefined) made.textContent = words;
    return parent.appendChild(made);
  }

  const width_of = (words) => Math.ceil(words.length * LETTER) + 12;

  function cut(words, width) {
    const most = Math.max(1, Math.floor((width - 8) / LETTER));
    return words.length <= most ? words : words.slice(0, most - 1) + "…";
  }

  function lines_of(words, width) {
    const most = Math.max(4, Math.floor(width / LETTER)), lines = [""];
    for (const word of words.split(" ")) {
      let line = lines[lines.length - 1];
      if (line && line.length + word.length + 1 > most) lines.push(line = "");
      lines[lines.length - 1] = cut(line ? `${line} ${word}` : word, width + 8);
    }
    return lines;
  }

  // A box that is not in the frame before stands out; `key` finds the same thing in both frames.
  function box(canvas, words, key, place, { stale = false, fixed = 0, about = "" } = {}) {
    const room = Math.min(fixed || width_of(words), canvas.right - canvas.left);
    const group = make(canvas.svg, "g", { "data-key": key, "data-words": words });
    if (canvas.before && !canvas.before.has(`${about}|${words}|${stale}`)) {
      group.setAttribute("class", "changed");
    }
    canvas.shown.add(`${about}|${words}|${stale}`);
    group.setAttribute("data-stale", String(stale));
    const kind = stale ? "box stale" : "box";
    make(group, "rect", { class: kind, x: place.x, y: place.y, width: room, height: BOX, rx: 3 });
    const text = { x: place.x + room / 2, y: place.y + 14, "text-anchor": "middle" };
    make(group, "text", { ...text, class: stale ? "stale" : "" }, cut(words, room));
    make(group, "title", {}, stale ? `${words}, completed or empty` : words);
    return room;
  }

  // The name of what a box is about, without its due tick or its size: "a due 7" is "a".
  const name_of = (words) => words.split(" ")[0];

  function label(canvas, words, y) {
    make(canvas.svg, "text", { class: "faint", x: 0, y: y + 14 }, cut(words, canvas.left + 12));
  }

  function draw_boxes(canvas, row, y) {
    label(canvas, row.about, y);
    canvas.group.setAttribute("data-boxes", row.about);
    if (!row.boxes.length) {
      make(canvas.svg, "text", { class: "faint", x: canvas.left, y: y + 14 }, "empty");
      return y + LINE;
    }
    let x = canvas.left;
    for (const each of row.boxes) {
      const room = Math.min(width_of(each.words), canvas.right - canvas.left);
      if (x > canvas.left && x + room > canvas.right) [x, y] = [canvas.left, y + LINE];
      const key = `${row.about.startsWith("list ") ? row.about : "task"} ${name_of(each.words)}`;
      box(canvas, each.words, key, { x, y }, { stale: each.stale, about: row.about });
      x += room + GAP;
    }
    return y + LINE;
  }

  function draw_words(canvas, row, y) {
    label(canvas, row.about, y);
    canvas.group.setAttribute("data-words-of", row.about);
    const key = `${row.about}=${row.words}`;
    const changed = canvas.before && !canvas.before.has(key) ? "changed" : "";
    canvas.shown.add(key);
    for (const line of lines_of(row.words, canvas.right - canvas.left)) {
      make(canvas.svg, "text", { class: changed, x: canvas.left, y: y + 14 }, line);
      y += 18;
    }
    return y + LINE - 18;
  }

  function draw_budget(canvas, row, y) {
    label(canvas, row.about, y);
    canvas.group.setAttribute("data-budget", row.about);
    const held = row.holders.reduce((sum, each) => sum + each.size_bytes, 0);
    const whole = Math.max(held + Math.max(row.available_bytes, 0), row.bound_bytes ?? 0, 1);
    const scale = (canvas.right - canvas.left) / whole;
    const all = { x: canvas.left, y, width: scale * whole, height: BOX };
    make(canvas.svg, "rect", { class: "cell", ...all });
    let x = canvas.left;
    for (const each of row.holders) {
      const words = `${each.name} ${each.size_bytes}`, fixed = scale * each.size_bytes;
      box(canvas, words, `bytes ${each.name}`, { x, y }, { fixed, about: row.about });
      x += fixed;
    }
    let words = `${held} bytes held, ${row.available_bytes} available`;
    if (row.bound_bytes !== null) {
      const place = canvas.left + scale * row.bound_bytes;
      const ends = { x1: place, x2: place, y1: y - 3, y2: y + BOX + 3 };
      make(canvas.svg, "line", { class: "bound", ...ends });
      words = `${held} of ${row.bound_bytes} bytes held, ${row.available_bytes} available`;
    }
    for (const line of lines_of(words, canvas.right - canvas.left)) {
      make(canvas.svg, "text", { class: "faint", x: canvas.left, y: y + BOX + 15 }, line);
      y += 18;
    }
    return y + LINE + 2;
  }

  function draw_levels(canvas, row, y) {
    for (const level of row.levels) y = draw_level(canvas, level, y);
    return y;
  }

  function draw_level(canvas, level, y) {
    label(canvas, `level ${level.level}`, y);
    const tick = cut(`tick ${level.tick_ms} ms`, canvas.left + 12);
    make(canvas.svg, "text", { class: "faint", x: 0, y: y + 29 }, tick);
    const least = Math.max(46, ...level.cells.map((cell) => width_of(span(cell)) - 4));
    const room = canvas.right - canvas.left;
    const columns = Math.max(1, Math.min(level.cells.length, Math.floor(room / least)));
    const width = room / columns;
    for (let first = 0; first < level.cells.length; first += columns) {
      const cells = level.cells.slice(first, first + columns);
      const most = Math.max(1, ...cells.map((cell) => cell.tasks.length));
      const height = 16 + most * (BOX + 2) + 2;
      cells.forEach((cell, at) => {
        const place = { x: canvas.left + at * width, y, width, height };
        draw_cell(canvas, level, cell, place);
      });
      y += height + 2;
    }
    return y + GAP;
  }

  function span(cell) {
    if (cell.buckets > 1) return `${cell.buckets} empty`;
    const { first_ms, last_ms } = cell;
    return first_ms === last_ms ? `${first_ms}` : `${first_ms} to ${last_ms}`;
  }

  function draw_cell(canvas, level, cell, { x, y, width, height }) {
    const kind = `cell${cell.present ? " present" : ""}${cell.queued ? " queued" : ""}`;
    const drawn = make(canvas.svg, "rect", { class: kind, x: x + 1, y, width: width - 2, height });
    drawn.setAttribute("data-level", level.level);
    drawn.setAttribute("data-first", cell.first_ms);
    drawn.setAttribute("data-queued", String(cell.queued));
    drawn.setAttribute("data-tasks", cell.tasks.map((each) => each.name).join(" "));
    const middle = { x: x + width / 2, y: y + 12, "text-anchor": "middle" };
    make(canvas.svg, "text", { class: "faint", ...middle }, cut(span(cell), width + 4));
    cell.tasks.forEach((each, at) => {
      const due = `${each.name} due ${each.due_ms}`;
      const words = width_of(due) <= width - 6 ? due : each.name;
      const about = `level ${level.level} at ${cell.first_ms}`;
      const place = { x: x + 3, y: y + 16 + at * (BOX + 2) };
      box(canvas, words, `task ${each.name}`, place, { fixed: width - 6, about });
    });
  }

  const DRAW = { boxes: draw_boxes, words: draw_words, budget: draw_budget, levels: draw_levels };

  function places_of(svg) {
    const places = new Map();
    for (const each of svg.querySelectorAll("[data-key]")) {
      const box = each.getBBox();
      if (!places.has(each.dataset.key)) places.set(each.dataset.key, box);
    }
    return places;
  }

  function view(figure) {
    let run = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    let last = run.frames.length - 1;
    const svg = figure.querySelector("svg");
    const says = figure.querySelector(".viewer-says");
    const [back, play, forward] = figure.querySelectorAll("button");
    const slider = figure.querySelector("input");
    const told = ({ step, says }) =>
      (step ? `Step ${step} of ${run.frames[last].step}: ${says}` : says);
    let at = 0, timer = null, width = 0;

    function draw(moving) {
      const frame = run.frames[at], width = Math.max(240, svg.clientWidth || 600);
      const before = at > 0 ? shown_in(run.frames[at - 1], width) : null;
      const places = moving ? places_of(svg) : new Map();
      svg.replaceChildren();
      const height = draw_frame(svg, frame, width, before).height;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", height);
      if (moving && !still()) move(places);
      const count = document.createElement("strong");
      count.textContent = told(frame);
      const state = document.createElement("span");
      state.className = "viewer-state";
      state.textContent = frame.state;
      says.replaceChildren(count, state);
      figure.dataset.at = at;
      slider.value = at;
      slider.setAttribute("aria-valuetext", told(frame));
      back.disabled = at === 0;
      forward.disabled = at === last;
    }

    function draw_frame(root, frame, width, before) {
      const left = width < NARROW ? 84 : LABEL;
      const canvas = { svg: root, left, right: width - 2, before, shown: new Set() };
      let y = 4;
      for (const row of frame.rows) {
        canvas.group = canvas.svg = make(root, "g", {});
        y = DRAW[row.type](canvas, row, y);
      }
      return { height: y + 2, shown: canvas.shown };
    }

    const shown_in = (frame, width) =>
      draw_frame(document.createElementNS(SVG, "svg"), frame, width, null).shown;

    function move(places) {
      const moved = new Set();
      for (const each of svg.querySelectorAll("[data-key]")) {
        const from = places.get(each.dataset.key), to = each.getBBox();
        if (!from || moved.has(each.dataset.key)) continue;
        moved.add(each.dataset.key);
        const by = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
        if (Math.abs(from.x - to.x) + Math.abs(from.y - to.y) < 1) continue;
        const timing = { duration: MOVE_MS, easing: "ease-in-out" };
        each.animate([{ transform: by }, { transform: "none" }], timing);
      }
    }

    function go(to) {
      const next = Math.min(last, Math.max(0, to));
      if (next === at) return;
      at = next;
      draw(true);
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }

    function start() {
      if (at === last) go(0);
      play.textContent = "Pause";
      timer = setInterval(() => {
        go(at + 1);
        if (at === last) stop();
      }, PLAY_MS);
    }

    function boxes_of(frame) {
      const drawn = document.createElementNS(SVG, "svg");
      draw_frame(drawn, frame, width || 600, null);
      return drawn.querySelectorAll("[data-key]").length;
    }

    // Paper does not step: a run at its beginning is shown where most is in it, with all its words.
    function print_begins() {
      const fill = run.frames.map(boxes_of);
      const before = at, steps = figure.querySelector("details"), open = steps.open;
      stop();
      steps.open = true;
      if (at === 0) at = fill.indexOf(Math.max(...fill));
      draw(false);
      addEventListener("afterprint", () => {
        steps.open = open;
        at = before;
        draw(false);
      }, { once: true });
    }

    // For a page that makes runs of its own: another run, at one of its frames.
    figure.show_run = (other, to) => {
      stop();
      run = other;
      last = run.frames.length - 1;
      at = Math.min(last, to);
      slider.max = last;
      figure.setAttribute("aria-label", run.title);
      figure.querySelector(".viewer-title").textContent = run.title;
      figure.querySelector(".viewer-about").textContent = run.about;
      const words = run.frames.map(({ says, state }) => {
        const item = document.createElement("li");
        item.append(Object.assign(document.createElement("strong"), { textContent: says }));
        item.append(` ${state}`);
        return item;
      });
      figure.querySelector("ol").replaceChildren(...words);
      draw(false);
    };

    back.addEventListener("click", () => { stop(); go(at - 1); });
    forward.addEventListener("click", () => { stop(); go(at + 1); });
    play.addEventListener("click", () => (timer === null ? start() : stop()));
    slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
    figure.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target === slider) return;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
      if (to !== undefined) {
        stop();
        go(to);
      } else if (event.key === " " && event.target === figure) {
        play.click();
      } else {
        return;
      }
      event.preventDefault();
    });
    slider.max = last;
    figure.classList.add("ready");
    figure.querySelector(".viewer-controls").hidden = false;
    addEventListener("beforeprint", print_begins);
    new ResizeObserver(() => {
      if (svg.clientWidth === width) return;
      width = svg.clientWidth;
      draw(false);
    }).observe(svg);
    draw(false);
  }

  for (const figure of document.querySelectorAll(".purgatory-viewer:not(.ready)")) view(figure);
})();
