// The copy button of a console block copies its commands: no prompt, no output. Such a block has
// prompts, to which Pygments gives the class "gp". The theme makes its buttons late, so that clicks
// are heard for the whole page; it copies the attribute below, if there is one, and not the block.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("button[data-clipboard-target]");
    const block = button && document.querySelector(button.dataset.clipboardTarget);
    if (block && block.querySelector(".gp")) {
      button.dataset.clipboardText = commands(block.textContent);
    }
  },
  true,
);

/** The lines behind a prompt, each with the lines that continue it. */
function commands(text) {
  let continues = false;
  const taken = [];
  for (const line of text.split("\n")) {
    if (continues || line.startsWith("$ ")) {
      taken.push(continues ? line : line.slice(2));
      continues = line.endsWith("\\");
    }
  }
  return taken.join("\n");
}
