// Draws the levels of a timing wheel as rings. A place of the array keeps its place on the ring; a
// hand points at the present tick; the times that a place stands for are written into it, and
// change as it is used again. Of a wheel with many places, a list beside the ring has the buckets.
const purgatory_rings = (drawing) => {
  "use strict";
  const { make, box, cut, width_of, TASK, BOX, LETTER } = drawing;
  const GAP = 14, HEAD = 18, LINE = BOX + 2, EDGE = 3, MOST_SECTORS = 12, MOST_LISTED = 8;
  const LEAST_BESIDE = 280, SMALL_LETTER = 6.6;

  const room_of = (words) => Math.ceil(words.length * SMALL_LETTER) + 4;

  const many = (places) => places > MOST_SECTORS;

  function span(cell) {
    const { first_ms, last_ms } = cell;
    return first_ms === last_ms ? [`${first_ms}`] : [`${first_ms}–`, `${last_ms}`];
  }

  const is_listed = (cell) => cell.buckets === 1 && (cell.present || cell.queued);

  // The levels of all frames: each has its ring from the beginning, so that none moves.
  function plan_of(frames) {
    const plan = { numbers: [], places: 0, most: 1, cells: new Map() };
    for (const row of frames.flatMap((frame) => frame.rows)) {
      for (const level of row.type === "levels" ? row.levels : []) {
        plan.places = level.places;
        plan.most = Math.max(plan.most, level.cells.filter(is_listed).length);
        for (const cell of level.cells) plan.cells.set(`${cell.place} ${span(cell).join("")}`, cell);
        if (!plan.numbers.includes(level.level)) plan.numbers.push(level.level);
      }
    }
    plan.numbers.sort((one, other) => one - other);
    return plan.numbers.length ? plan : null;
  }

  const radius_of = (ring) => ring / 2 - 16;

  const hub_of = (radius) => Math.max(14, Math.round(radius * 0.3));

  // Whether each place of a ring of this size has room for its times and for a task.
  function is_large_enough(plan, ring) {
    const radius = radius_of(ring), hub = hub_of(radius);
    return [...plan.cells.values()].every((cell) => {
      const { lines, slots } = room_in(plan.places, radius, hub, cell);
      return lines.length > 0 && slots.length > 0;
    });
  }

  // The rings stand side by side, as many as the width has room for, and in rows of equal length.
  function layout_of(plan, width) {
    const { numbers, places, most } = plan;
    const [least, largest] = many(places) ? [290, 330] : [135, places > 8 ? 290 : 250];
    let columns = Math.max(1, Math.min(numbers.length, Math.floor((width + GAP) / (least + GAP)))), side;
    for (; ; columns -= 1) {
      columns = Math.ceil(numbers.length / Math.ceil(numbers.length / columns));
      side = Math.min(largest, Math.floor((width - GAP * (columns - 1)) / columns));
      if (columns === 1 || many(places) || is_large_enough(plan, side)) break;
    }
    const lines = Math.ceil(numbers.length / columns);
    const ring = many(places) ? Math.min(140, Math.floor(side * 0.42)) : side;
    const listed = LINE * (Math.min(most, MOST_LISTED) + (most > MOST_LISTED ? 1 : 0));
    const height = HEAD + Math.max(ring, many(places) ? listed : 0);
    const whole = columns * side + GAP * (columns - 1);
    const beside = lines === 1 && width - whole - 2 * GAP >= LEAST_BESIDE;
    return { columns, side, ring, height, whole, beside, all: lines * (height + GAP) };
  }

  function draw(canvas, plan, layout, levels, y) {
    const left = layout.beside ? 0 : Math.max(0, Math.floor((canvas.right - layout.whole) / 2));
    const rings = make(canvas.svg, "g", {}), tasks = make(canvas.svg, "g", {});
    plan.numbers.forEach((number, at) => {
      const x = left + (at % layout.columns) * (layout.side + GAP);
      const top = y + Math.floor(at / layout.columns) * (layout.height + GAP);
      const level = levels.find((each) => each.level === number);
      const radius = radius_of(layout.ring);
      const ring = {
        level, x, y: top, rings, tasks, radius, hub: hub_of(radius),
        centre: { x: x + layout.ring / 2, y: top + HEAD + layout.ring / 2 },
      };
      const words = level ? `level ${number}, tick ${level.tick_ms} ms` : `level ${number}`;
      const head = { class: "faint", x: ring.centre.x, y: top + 12, "text-anchor": "middle" };
      if (many(plan.places)) Object.assign(head, { x, "text-anchor": "start" });
      make(rings, "text", head, cut(words, (layout.side * LETTER) / SMALL_LETTER));
      if (!level) draw_missing(ring);
      else if (many(plan.places)) draw_list(canvas, layout, ring);
      else draw_places(canvas, ring);
    });
    return y + layout.all;
  }

  function draw_missing({ rings, centre, radius }) {
    make(rings, "circle", { class: "missing", cx: centre.x, cy: centre.y, r: radius });
    const middle = { class: "faint", x: centre.x, y: centre.y + 4, "text-anchor": "middle" };
    make(rings, "text", middle, "not yet");
  }

  // Place 0 is at the top, and the places follow clockwise.
  const angle_of = (place, places) => (2 * Math.PI * place) / places - Math.PI / 2;

  const point = ({ centre }, angle, radius) =>
    [centre.x + radius * Math.cos(angle), centre.y + radius * Math.sin(angle)];

  function draw_sector(ring, cell) {
    const { level, rings, radius, hub } = ring, half = 0.5 / level.places;
    const [from, to] = [cell.place / level.places - half, (cell.place + cell.buckets) / level.places - half]
      .map((turn) => 2 * Math.PI * turn - Math.PI / 2);
    const wide = to - from > Math.PI ? 1 : 0, ends = (each) => each.map((way) => way.toFixed(2)).join(" ");
    const outline = `M${ends(point(ring, from, hub))}L${ends(point(ring, from, radius))}` +
      `A${radius} ${radius} 0 ${wide} 1 ${ends(point(ring, to, radius))}` +
      `L${ends(point(ring, to, hub))}A${hub} ${hub} 0 ${wide} 0 ${ends(point(ring, from, hub))}Z`;
    const kind = `place${cell.present ? " present" : ""}${cell.queued ? " queued" : ""}`;
    make(rings, "path", {
      class: kind, d: outline, "data-level": level.level, "data-first": cell.first_ms,
      "data-place": cell.place, "data-queued": String(cell.queued),
      "data-tasks": cell.tasks.map((each) => each.name).join(" "),
    });
  }

  // What is framed is drawn last, since neighbours share their edges.
  const in_drawing_order = (cells) =>
    [...cells].sort((one, other) => one.queued - other.queued || one.present - other.present);

  function draw_hand(ring) {
    const { level, rings, centre, hub } = ring;
    const present = level.cells.find((cell) => cell.present);
    const hand = make(rings, "g", {
      class: "hand", "data-hand": level.level, "data-tick": present.first_ms / level.tick_ms,
      "data-places": level.places,
    });
    const angle = angle_of(present.place, level.places), tip = point(ring, angle, hub - 2);
    const wings = [-0.35, 0.35].map((off) => point(ring, angle + off, hub * 0.62));
    make(hand, "circle", { cx: centre.x, cy: centre.y, r: 3 });
    make(hand, "line", { x1: centre.x, y1: centre.y, x2: tip[0], y2: tip[1] });
    make(hand, "polygon", { points: [tip, ...wings].map((each) => each.join(",")).join(" ") });
    hand.style.transformOrigin = `${centre.x}px ${centre.y}px`;
  }

  function draw_number(ring, cell) {
    const [x, y] = point(ring, angle_of(cell.place, ring.level.places), ring.radius + 9);
    const middle = { class: "number", x, y: y + 4, "text-anchor": "middle" };
    make(ring.rings, "text", middle, cell.place ? `${cell.place}` : "place 0");
  }

  function draw_places(canvas, ring) {
    const { level, centre, rings } = ring;
    const is_old = canvas.before?.has(`level ${level.level}`);
    canvas.shown.add(`level ${level.level}`);
    for (const cell of in_drawing_order(level.cells)) draw_sector(ring, cell);
    for (const cell of level.cells) {
      const key = `time ${level.level} ${cell.place} ${cell.first_ms}`;
      const kind = is_old && !canvas.before.has(key) ? "time changed" : "time";
      canvas.shown.add(key);
      const { lines, slots } = room_in(level.places, ring.radius, ring.hub, cell);
      for (const { words, x, y } of lines) {
        const place = { x: centre.x + x, y: centre.y + y + 11, "text-anchor": "middle" };
        make(rings, "text", { class: kind, ...place }, words);
      }
      draw_number(ring, cell);
      draw_tasks(canvas, ring, cell, slots);
    }
    draw_hand(ring);
  }

  const known = new Map();

  // Where the lines of a place can stand: its times at the rim, its tasks towards the hub.
  function room_in(places, radius, hub, cell) {
    const words = span(cell), key = [places, cell.place, radius, words].join("|");
    if (known.has(key)) return known.get(key);
    const angle = angle_of(cell.place, places), half = Math.PI / places;
    const inside = (x, y) => {
      const away = Math.hypot(x, y);
      if (away < hub + EDGE || away > radius - EDGE) return false;
      let off = Math.abs(Math.atan2(y, x) - angle) % (2 * Math.PI);
      if (off > Math.PI) off = 2 * Math.PI - off;
      return off < half && (off <= half - Math.PI / 2 || Math.sin(half - off) * away > EDGE);
    };
    const widest = (top, height) => {
      let best = null, from = null;
      for (let x = -radius; x <= radius + 2; x += 2) {
        const fits = [0, height / 2, height].every((down) => inside(x, top + down));
        if (fits && from === null) from = x;
        if (fits || from === null) continue;
        if (!best || x - from > best.width) best = { x: from, width: x - from, y: top };
        from = null;
      }
      return best;
    };
    const up = Math.sin(angle) > 0.1, step = up ? -2 : 2;
    const found = (start, height, width) => {
      for (let y = start; Math.abs(y) <= radius; y += step) {
        const slot = widest(y, height);
        if (slot && slot.width >= width) return slot;
      }
      return null;
    };
    // At the sides the outermost line is narrow, and the one in the middle is not.
    const aside = Math.abs(Math.sin(angle)) < 0.6 ? 0.7 * (radius - hub - 2 * EDGE) : 0;
    const begin = (height) => (up ? radius - height : -radius), times = words.join("");
    const first = (lines, least) => {
      const height = 2 + 12 * lines.length, width = Math.max(least, ...lines.map(room_of));
      const slot = found(begin(height), height, width);
      return slot && { ...slot, lines, height };
    };
    const slot = first([times], aside) ?? first([times], 0) ?? first(words, 0) ??
      { x: -radius, y: begin(14), width: 2 * radius, lines: [], height: 14 };
    const lines = slot.lines.map((line, at) =>
      ({ words: line, x: slot.x + slot.width / 2, y: slot.y + 12 * at }));
    const height = slot.height, slots = [];
    let next = up ? slot.y - LINE - 1 : slot.y + height + 3;
    for (let each = found(next, BOX, 24); each; each = found(next, BOX, 24)) {
      slots.push(each);
      next = each.y + (up ? -LINE : LINE);
    }
    known.set(key, { lines, slots });
    return known.get(key);
  }

  const narrow = (words) => Math.max(22, width_of(words) - 4);

  // A task has a line of its own with its due time, or shares one by its name alone.
  function draw_tasks(canvas, ring, cell, slots) {
    const about = `level ${ring.level.level} at ${cell.first_ms}`;
    const into = { ...canvas, svg: ring.tasks };
    const put = (words, name, slot, x, fixed) => {
      const place = { x: ring.centre.x + x, y: ring.centre.y + slot.y };
      box(into, words, name && `${TASK} ${name}`, place, { fixed, about });
    };
    const whole = cell.tasks.map((each) => `${each.name} due ${each.due_ms}`);
    if (whole.length <= slots.length && whole.every((words, at) => narrow(words) <= slots[at].width)) {
      whole.forEach((words, at) => {
        const fixed = narrow(words), slot = slots[at];
        const x = slot.x + (slot.from_left ? 0 : (slot.width - fixed) / 2);
        put(words, cell.tasks[at].name, slot, x, fixed);
      });
      return;
    }
    const rest = [...cell.tasks];
    slots.forEach((slot, at) => {
      const line = [];
      let used = 0;
      while (rest.length) {
        const { name } = rest[0], fixed = Math.min(narrow(name), slot.width);
        if (used + fixed > slot.width) break;
        line.push({ words: name, name, fixed });
        used += fixed + 2;
        rest.shift();
      }
      if (at === slots.length - 1 && rest.length) {
        let left_out = rest.length, more = `+${left_out}`;
        while (line.length && used + narrow(more) > slot.width) {
          used -= line.pop().fixed + 2;
          more = `+${left_out += 1}`;
        }
        line.push({ words: more, name: "", fixed: narrow(more) });
      }
      const taken = line.reduce((sum, each) => sum + each.fixed + 2, -2);
      let x = slot.x + (slot.from_left ? 0 : (slot.width - taken) / 2);
      for (const each of line) {
        put(each.words, each.name, slot, x, each.fixed);
        x += each.fixed + 2;
      }
    });
  }

  function draw_list(canvas, layout, ring) {
    const { level, x, y } = ring, listed = level.cells.filter(is_listed);
    const left = x + layout.ring + 8, right = x + layout.side;
    for (const cell of in_drawing_order(level.cells)) draw_sector(ring, cell);
    draw_hand(ring);
    listed.slice(0, MOST_LISTED).forEach((cell, at) => {
      const top = y + HEAD + at * LINE, words = `place ${cell.place}: ${span(cell).join("")}`;
      make(ring.rings, "text", { class: "time", x: left, y: top + 14 }, words);
      const start = left + room_of(words) + 4;
      const slot = {
        x: start - ring.centre.x, width: right - start, y: top - ring.centre.y, from_left: true,
      };
      if (cell.present) make(ring.rings, "text", { class: "faint", x: start, y: top + 14 }, "now");
      else if (cell.tasks.length) draw_tasks(canvas, ring, cell, [slot]);
      else make(ring.rings, "text", { class: "faint", x: start, y: top + 14 }, "empty");
    });
    if (listed.length > MOST_LISTED) {
      const place = { class: "faint", x: left, y: y + HEAD + MOST_LISTED * LINE + 14 };
      make(ring.rings, "text", place, `and ${listed.length - MOST_LISTED} more buckets`);
    }
  }

  const ticks_of = (svg) =>
    new Map([...svg.querySelectorAll("[data-hand]")].map((hand) => [hand.dataset.hand, Number(hand.dataset.tick)]));

  // A hand turns clockwise to where it points now: as often as it passed, at most one whole turn more.
  function turn(svg, before, timing) {
    for (const hand of svg.querySelectorAll("[data-hand]")) {
      const places = Number(hand.dataset.places);
      let passed = Number(hand.dataset.tick) - (before.get(hand.dataset.hand) ?? NaN);
      if (!passed) continue;
      if (Math.abs(passed) > places) passed = Math.sign(passed) * places + (passed % places);
      const from = `rotate(${(-360 * passed) / places}deg)`;
      hand.animate([{ transform: from }, { transform: "rotate(0deg)" }], timing);
    }
  }

  return { plan_of, layout_of, draw, ticks_of, turn };
};
