"""The design of pages: one scale of sizes and spaces, colours that stand out in both themes, and one word for
what becomes of a pod."""

import re

import pytest

from kubeclassic.api.view import CHANGES, MEANINGS
from kubeclassic.cli.report.page.document import STYLES, asset

TEXTS = ("ink", "soft", "link")
GROUNDS = ("page", "card", "hover")
MARKS = ("good", "same", "near", "far", "held", *(f"c{at}" for at in range(8)))
"""Colours of bars, dots and frames."""
DARK_STEPS = ("u6", "u7", "u8", "u9", "u10", "u11")
"""Colours of use on which text has the colour of a card; on the others it is ink."""
OF_TEXT = 4.5
OF_MARKS = 3.0
"""The least contrasts by WCAG 2.1 AA: 1.4.3 for text, 1.4.11 for other marks."""
SCREEN = tuple(name for name in STYLES if name != "print")
SIZED = r"(?<![\w-])(margin|padding|gap|font-size|font)[a-z-]*: ([^;}]*)"


def colours(theme):
    """Name -> colour in the light (0) or the dark (1) theme."""
    return {
        name: both[theme]
        for name, *both in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", asset("base.css"))
    }


def brightness(colour):
    """The relative luminance of *colour*, as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(one, other):
    """The contrast of two colours, from 1 to 21."""
    dark, light = sorted(map(brightness, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_and_white():
    """The formula gives 21 for black on white and 1 for a colour on itself."""
    assert round(contrast("#000000", "#ffffff"), 6) == 21
    assert contrast("#7b899b", "#7b899b") == 1


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
class TestContrast:
    def test_text(self, theme):
        """Texts and links stand out from each ground, and texts on bars of use from their colour."""
        found = colours(theme)
        pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
        pairs += [("card" if f"u{at}" in DARK_STEPS else "ink", f"u{at}") for at in range(12)]
        assert [pair for pair in pairs if contrast(*(found[name] for name in pair)) < OF_TEXT] == []

    def test_marks(self, theme):
        """Bars, dots and frames stand out from each ground."""
        found = colours(theme)
        pairs = [(mark, ground) for mark in MARKS for ground in GROUNDS]
        assert [pair for pair in pairs if contrast(*(found[name] for name in pair)) < OF_MARKS] == []

    def test_use_darkens_step_by_step(self, theme):
        """More use is always darker in the light, and brighter in the dark."""
        found = [brightness(colours(theme)[f"u{at}"]) for at in range(1, 11)]
        assert found == sorted(found, reverse=theme == 0)


@pytest.mark.parametrize("name", SCREEN)
def test_sizes_are_of_the_scale(name):
    """Spaces and sizes of text are steps of the scale; only hairlines of up to 3 pixels are written as they
    are."""
    odd = [
        f"{kind}: {value}"
        for kind, value in re.findall(SIZED, asset(f"{name}.css"))
        for pixels in re.findall(r"(?<![\w.-])(\d+)px", value)
        if int(pixels) > 3
    ]
    assert odd == []


def test_colours_are_named_once():
    """No style but the base has a colour of its own."""
    assert {name: re.findall(r"#[0-9a-f]{3,8}\b", asset(f"{name}.css")) for name in SCREEN[1:]} == {
        name: [] for name in SCREEN[1:]
    }


def test_changes_have_one_word_and_one_meaning():
    """Each change of a pod has one word, and a colour with a meaning."""
    assert len({word for word, _ in CHANGES.values()}) == len(CHANGES)
    assert {meaning for _, meaning in CHANGES.values()} <= set(MEANINGS)
