"""Inspections of a page, each in one call of the browser."""

from io import BytesIO

SERIOUS = ("serious", "critical")

OUTSIDE = """() => {
  const found = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  const scrolls = (style) => /auto|scroll/.test(style.overflowX), hides = (style) => /hidden|clip/.test(style.overflowX);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || !node.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    let above = node.parentElement, cut = box.right > width + 1 || box.left < -1;
    for (; above; above = above.parentElement) {
      const style = getComputedStyle(above), frame = above.getBoundingClientRect();
      if (scrolls(style) && above !== document.documentElement && above !== document.body) { cut = false; break; }
      if (frame.width <= 2 && frame.height <= 2 || style.clipPath !== "none") { cut = false; break; }
      if (hides(style) && style.textOverflow !== "ellipsis" && box.right > frame.right + 1) { cut = true; break; }
    }
    if (cut && !node.parentElement.closest(".skip")) found.push(node.data.trim().slice(0, 60));
  }
  return found;
}"""
"""Texts that lie beyond the window, or that a frame cuts off; what a frame lets people scroll to is not cut
off."""

HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((heading) => heading.checkVisibility()).map((heading) => [Number(heading.tagName[1]), heading.textContent])"""

BRIGHTNESS = """() => {
  const numbers = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const of = (text) => numbers(text).reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0) / 255;
  const style = getComputedStyle(document.body);
  const behind = style.backgroundColor === "rgba(0, 0, 0, 0)" ? getComputedStyle(document.documentElement) : style;
  return [of(behind.backgroundColor), of(style.color)];
}"""


def outside(page):
    """Texts of *page* that nobody can see without scrolling the page sideways, or at all."""
    return page.evaluate(OUTSIDE)


def headings(page):
    """Level and text of each heading that shows."""
    return [(level, text) for level, text in page.evaluate(HEADINGS)]


def brightness(page):
    """The brightness of the page and of its text, from 0 to 1."""
    behind, text = page.evaluate(BRIGHTNESS)
    return behind, text


def serious_faults(page, *, colours_alone=False):
    """The serious accessibility faults of *page* that axe-core finds; *colours_alone*: only those of text
    contrast."""
    from axe_playwright_python.sync_playwright import Axe

    chosen = {"runOnly": ["color-contrast"]} if colours_alone else {}
    found = Axe().run(page, options={"resultTypes": ["violations"], **chosen}).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found if one["impact"] in SERIOUS]


def printed(page):
    """The text of *page* on paper (A4), without any white space."""
    from pypdf import PdfReader

    sheets = PdfReader(BytesIO(page.pdf(format="A4", prefer_css_page_size=True))).pages
    return "".join("".join(sheet.extract_text().split()) for sheet in sheets)
