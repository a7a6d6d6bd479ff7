// One slide at a time: arrow keys, Page Up and Down, Home, End; n shows the notes. The address ends
// with the number of the slide. A figure that has the focus takes its own keys first.
(() => {
  "use strict";
  const slides = [...document.querySelectorAll(".slide")], bar = document.querySelector(".bar");
  const notes = bar.querySelector("[data-notes]");
  const number = () => Math.min(slides.length, Math.max(1, parseInt(location.hash.slice(1), 10) || 1));
  let at = number() - 1;

  function show() {
    slides.forEach((slide, place) => slide.classList.toggle("here", place === at));
    bar.querySelector("output").textContent = `${at + 1} of ${slides.length}`;
    scrollTo(0, 0);
  }

  function go(to) {
    at = Math.min(slides.length - 1, Math.max(0, to));
    history.replaceState(null, "", `#${at + 1}`);
    show();
  }

  function toggle_notes() {
    const shown = notes.getAttribute("aria-pressed") !== "true";
    notes.setAttribute("aria-pressed", String(shown));
    for (const each of document.querySelectorAll(".notes")) each.hidden = !shown;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, button") && !event.key.startsWith("Page")) return;
    const to = {
      ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 1, PageDown: at + 1, Home: 0,
      End: slides.length - 1,
    }[event.key];
    if (to !== undefined) go(to);
    else if (event.key === "n") toggle_notes();
    else return;
    event.preventDefault();
  });
  for (const each of bar.querySelectorAll("[data-go]")) {
    each.addEventListener("click", () => go(at + Number(each.dataset.go)));
  }
  notes.addEventListener("click", toggle_notes);
  addEventListener("hashchange", () => { at = number() - 1; show(); });
  document.body.classList.add("ready");
  bar.hidden = false;
  show();
})();
