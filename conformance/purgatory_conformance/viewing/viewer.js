// Draws the runs of a page: each figure holds its frames as JSON, and this script steps through
// them. It loads nothing and keeps nothing. A row is a list of boxes, words, a budget of bytes, or
// the levels of a timing wheel (rings.js); the names are those of the structures in Python.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const LABEL = 92, LINE = 24, BOX = 20, GAP = 6, LETTER = 7.4, NARROW = 480;
  const PLAY_MS = 1600, MOVE_MS = 700, TASK = "task";

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
    const room = fixed || Math.min(width_of(words), canvas.right - canvas.left);
    const group = make(canvas.svg, "g", key ? { "data-key": key, "data-words": words } : {});
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
    make(canvas.svg, "text", { class: "faint", x: canvas.start, y: y + 14 },
      cut(words, canvas.left - canvas.start + 12));
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
      const key = `${row.about.startsWith("list ") ? row.about : TASK} ${name_of(each.words)}`;
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

  const rings = purgatory_rings({ make, box, cut, width_of, TASK, BOX, LETTER });

  const DRAW = { boxes: draw_boxes, words: draw_words, budget: draw_budget };

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
    let at = null, timer = null, width = 0, room = null;

    function draw(moving) {
      const frame = run.frames[at], before = at > 0 ? room.frames[at - 1].shown : null;
      const places = moving ? places_of(svg) : new Map(), ticks = rings.ticks_of(svg);
      svg.replaceChildren();
      draw_frame(svg, frame, before, room);
      if (moving && !still()) {
        move(places);
        rings.turn(svg, ticks, { duration: MOVE_MS, easing: "ease-in-out" });
      }
      tell(told(frame), frame.state);
      figure.dataset.at = at;
      slider.value = at;
      slider.setAttribute("aria-valuetext", told(frame));
      back.disabled = at === 0;
      forward.disabled = at === last;
    }

    function draw_frame(root, frame, before, { width, plan, layout, reserved }) {
      const start = layout?.beside ? layout.whole + 24 : 0;
      const left = start + (width - start < NARROW ? 84 : LABEL);
      const drawn = { shown: new Set(), heights: new Map(), root };
      let y = layout?.beside ? 24 : 4;
      for (const row of frame.rows) {
        const group = make(root, "g", {}), right = width - 2;
        const canvas = { svg: group, group, start, left, right, before, shown: drawn.shown };
        if (row.type === "levels") {
          const end = rings.draw(canvas, plan, layout, row.levels, layout.beside ? 0 : y);
          if (!layout.beside) y = end;
          continue;
        }
        const end = DRAW[row.type](canvas, row, y);
        drawn.heights.set(row.about, end - y);
        y = Math.max(end, y + (reserved.get(row.about) ?? 0));
      }
      return { ...drawn, height: Math.max(y, layout?.beside ? layout.all : 0) + 2 };
    }

    // The room that the whole run needs: no step moves what stands below it.
    function measure() {
      const plan = rings.plan_of(run.frames), width = Math.max(240, svg.clientWidth || 600);
      room = { width, plan, layout: plan && rings.layout_of(plan, width), reserved: new Map(), frames: [] };
      const blank = () => document.createElementNS(SVG, "svg");
      const free = { ...room, reserved: new Map() };
      let height = 0;
      for (const frame of run.frames) {
        const drawn = draw_frame(blank(), frame, null, free);
        for (const [about, most] of drawn.heights) {
          room.reserved.set(about, Math.max(most, room.reserved.get(about) ?? 0));
        }
        const boxes = drawn.root.querySelectorAll("[data-key]").length;
        room.frames.push({ shown: drawn.shown, boxes, heights: drawn.heights, height: drawn.height });
      }
      for (const { heights, height: own } of room.frames) {
        let whole = own;
        for (const [about, used] of heights) whole += room.reserved.get(about) - used;
        height = Math.max(height, whole);
      }
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", height);
      says.style.minHeight = "";
      const longest = (texts) => texts.reduce((one, other) => (other.length > one.length ? other : one));
      tell(longest(run.frames.map(told)), longest(run.frames.map((frame) => frame.state)));
      says.style.minHeight = `${Math.ceil(says.getBoundingClientRect().height)}px`;
    }

    function tell(words, state_words) {
      const count = document.createElement("strong"), state = document.createElement("span");
      count.textContent = words;
      state.className = "viewer-state";
      state.textContent = state_words;
      says.replaceChildren(count, state);
    }

    // The frame with the most in it, the first of several; of a story in words, its first step.
    function fullest() {
      const boxes = room.frames.map((frame) => frame.boxes), most = Math.max(...boxes);
      return most ? boxes.indexOf(most) : Math.min(1, last);
    }

    function move(places) {
      const moved = new Set();
      for (const each of svg.querySelectorAll("[data-key]")) {
        const from = places.get(each.dataset.key), to = each.getBBox();
        if (!from || moved.has(each.dataset.key)) continue;
        moved.add(each.dataset.key);
        const [x, y] = [from.x - to.x, from.y - to.y], away = Math.hypot(x, y);
        if (away < 1) continue;
        const ways = [[x, y], [x / 2, y / 2 - Math.min(30, away / 5)], [0, 0]];
        const timing = { duration: MOVE_MS, easing: "ease-in-out" };
        each.animate(ways.map((way) => ({ transform: `translate(${way[0]}px, ${way[1]}px)` })), timing);
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
      says.setAttribute("aria-live", "polite");
    }

    function start() {
      if (at === last) go(0);
      play.textContent = "Pause";
      says.setAttribute("aria-live", "off"); // Nobody could listen as fast as it plays.
      timer = setInterval(() => {
        go(at + 1);
        if (at === last) stop();
      }, PLAY_MS);
    }

    // Paper does not step: a run at its beginning is shown where most is in it, with all its words.
    function print_begins() {
      const before = at, steps = figure.querySelector("details"), open = steps.open;
      stop();
      steps.open = true;
      if (at === 0) at = fullest();
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
      measure();
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
      measure();
      draw(false);
    }).observe(svg);
    width = svg.clientWidth;
    measure();
    at = fullest();
    draw(false);
    if ("plays" in figure.dataset && !still()) {
      const seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        if (timer === null) start();
      }, { threshold: 0.4 });
      seen.observe(figure);
    }
  }

  for (const figure of document.querySelectorAll(".purgatory-viewer:not(.ready)")) view(figure);
})();
