"""The animation of the lab in README: what would help, applied; then an old release beside the newest. It
needs Pillow (extra docs).

    python tests/browser/labscenes.py docs/lab.gif

Each scene is what Chromium shows of the lab on ``examples/cluster``. What is clicked next has a frame around
it.
"""

import io
import sys
from collections import Counter
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import conftest  # noqa: F401  # makes the package and its helpers importable
from tests.browser.chromium import Chromium
from tests.browser.runninglab import IDLE, done, opened, running_lab

WINDOW = {"width": 1400, "height": 820}
WIDTH = 1000
COLOURS = 200
NEAR = 12
MOST_LOOKED_AT = 4000
CLICK = 1600
LOOK = 3600
"""Milliseconds that a scene stays, before a click and after it."""
FRAME = "one => { one.style.outline = '4px solid #d1720a'; one.style.outlineOffset = '2px'; }"
UNFRAME = "one => { one.style.outline = ''; }"
APPLY = "#why .helps li:not(:has-text('until')) >> text=Apply"


def scenes(page):
    """Each scene in turn, while *page* shows it: for how many milliseconds."""
    page.wait_for_selector("#why .helps li")
    yield LOOK
    yield from _clicked(page, APPLY)
    done(page, 1)
    page.wait_for_selector("#why tr.winner")
    yield LOOK
    yield from _clicked(page, "text=1.16 against today")
    page.wait_for_function("() => document.querySelectorAll('#maps .groups').length === 2")
    page.wait_for_function(
        "() => document.lab.states.pins.A && document.lab.state.scheduler.release !== '1.16'"
    )
    page.wait_for_function(IDLE)
    yield LOOK


def _framed(page, what):
    page.eval_on_selector(what, FRAME)
    yield CLICK
    page.eval_on_selector(what, UNFRAME)


def _clicked(page, what):
    yield from _framed(page, what)
    page.click(what)


def picture(page):
    """A screenshot of the window."""
    found = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return found.resize((WIDTH, round(found.height * WIDTH / found.width)), Image.Resampling.LANCZOS)


def palette(frames):
    """The most frequent colours of all scenes, as they are; none that is near one before it."""
    counts = Counter()
    for frame in frames:
        counts.update({colour: count for count, colour in frame.getcolors(frame.width * frame.height)})
    found = Image.new("P", (1, 1))
    kept = []
    for colour, _ in counts.most_common(MOST_LOOKED_AT):
        if all(
            sum(abs(one - other) for one, other in zip(colour, each, strict=True)) > NEAR for each in kept
        ):
            kept.append(colour)
    found.putpalette([part for colour in kept[:COLOURS] for part in colour])
    return found


def main(file):
    """Write the animation."""
    chromium = Chromium()
    frames = []
    times = []
    with running_lab() as lab, chromium.in_use() as visit:
        page = opened(lab, visit, viewport=WINDOW, color_scheme="light")
        for time in scenes(page):
            frames.append(picture(page))
            times.append(time)
    chromium.stop()
    colours = palette(frames)
    few = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    few[0].save(file, save_all=True, append_images=few[1:], duration=times, loop=0, optimize=True, disposal=1)
    sys.stderr.write(f"{file}: {file.stat().st_size // 1024} KiB, {len(few)} scenes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
