"""Faults of a page in a browser: overflow, words broken letter by letter, poor contrast."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests.browsers import BROWSERS, browser_path

WIDTHS = (380, 768, 1280)
"""Of a phone, a tablet and a desktop, in CSS pixels."""

LEAST_CONTRAST = 4.5
"""Of text with its ground: WCAG 2, success criterion 1.4.3, level AA."""


@contextmanager
def open_page() -> Iterator[Page]:
    """An empty page of a headless browser, which reaches no network."""
    path = browser_path()
    assert path is not None, f"none of these is installed: {', '.join(BROWSERS)}"
    arguments = ["--no-sandbox", "--disable-background-networking"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page()
        page.route("**/*", lambda route: route.abort())
        yield page
        browser.close()


def shown(page: Page, html: str, width: int, height: int) -> Page:
    """The page with these contents, at a size in CSS pixels, and with nothing of what was there."""
    page.goto("about:blank")
    page.set_viewport_size({"width": width, "height": height})
    page.set_content(html)
    return page


def faults(page: Page, html: str) -> list[str]:
    """The faults of a page at each width, light and dark, with every ``details`` open."""
    page.set_content(html)
    return faults_of_what_is_shown(page)


def faults_of_what_is_shown(page: Page) -> list[str]:
    """The faults of a page as it stands, at each width, light and dark."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found: list[str] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        found += [f"{width}: {fault}" for fault in page.evaluate(_LAYOUT)]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {fault}" for fault in page.evaluate(_CONTRAST, LEAST_CONTRAST)]
    return found


def faults_here(page: Page) -> list[str]:
    """The faults of a page at its present width, in its present colours."""
    return [*page.evaluate(_LAYOUT), *page.evaluate(_CONTRAST, LEAST_CONTRAST)]


_LAYOUT = r"""
() => {
  const found = [];
  const named = e => [e.tagName.toLowerCase(), ...e.classList].join('.');
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const in_region = e => { for (; e; e = e.parentElement) if (scrolls(e)) return true; };
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push('the page overflows');
  for (const e of document.querySelectorAll('body, body *:not(svg *)')) {
    const box = e.getBoundingClientRect();
    if (!box.width || in_region(e)) continue;
    if (box.right > width + 1 || box.left < -1) found.push(`${named(e)} leaves the page`);
    const inline = getComputedStyle(e).display === 'inline' || e.tagName === 'svg';
    if (!inline && e.scrollWidth > e.clientWidth + 1) found.push(`${named(e)} overflows`);
  }
  for (const text of document.querySelectorAll('svg text')) {
    const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
    if (box.right > svg.right + 1 || box.left < svg.left - 1)
      found.push(`the text ${text.textContent} leaves its picture`);
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (node.parentElement.closest('svg, style')) continue;
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = [...range.getClientRects()];
      if (new Set(lines.map(line => Math.round(line.top))).size < 2) continue;
      const needed = lines.reduce((sum, line) => sum + line.width, 0);
      const around = node.parentElement.closest('article, main') ?? document.body;
      if (needed > 0.85 * around.clientWidth || word.includes('…')) continue;
      let before = null;
      for (let place = index; place < index + word.length; place++) {
        range.setStart(node, place);
        range.setEnd(node, place + 1);
        const top = Math.round(range.getBoundingClientRect().top);
        const may_end = place === index || /[-\/?]/.test(node.data[place - 1]);
        if (before !== null && top > before + 1 && !may_end) {
          found.push(`the word ${word} is broken in ${named(node.parentElement)}`);
          break;
        }
        before = top;
      }
    }
  }
  return found;
}
"""

_CONTRAST = r"""
least => {
  const found = new Set();
  const parts = colour => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = colour => {
    const [r, g, b] = colour.map(each => each / 255)
      .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const opacity = colour => colour.startsWith('rgb') ? parts(colour)[3] ?? 1 : 0;
  const laid = (colour, under) =>
    under.map((each, n) => each + ((parts(colour)[n] ?? each) - each) * opacity(colour));
  const ground = e => {
    const colours = [];
    for (; e; e = e.parentElement) {
      colours.unshift(getComputedStyle(e).backgroundColor);
      if (opacity(colours[0]) === 1) break;
    }
    return colours.reduce((under, colour) => laid(colour, under), [255, 255, 255]);
  };
  const below = text => {
    const box = text.getBoundingClientRect();
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    let colour = ground(text.ownerSVGElement);
    for (const shape of text.ownerSVGElement.querySelectorAll('rect, path')) {
      if (text.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_FOLLOWING) break;
      const point = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
      if (shape.isPointInFill(point)) colour = laid(getComputedStyle(shape).fill, colour);
    }
    return colour;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, e = node.parentElement;
    if (!node.data.trim() || !e.getClientRects().length) continue;
    const text = e.closest('svg text');
    if (!text && e.closest('svg, style')) continue;
    const style = getComputedStyle(e);
    const under = text ? below(text) : ground(e), colour = text ? style.fill : style.color;
    const [dark, light] =
      [luminance(laid(colour, under)), luminance(under)].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05), words = node.data.trim().slice(0, 20);
    const named = `rgb(${under.map(Math.round).join(', ')})`;
    if (!(ratio >= least)) found.add(`${colour} on ${named} has ${ratio.toFixed(1)}: ${words}`);
  }
  return [...found];
}
"""
