"""The lab in a browser: sliders move pods to where ``simulate`` says, every part works by pointer and keys,
and nothing goes wrong."""

import random

import pytest

from kubeclassic.questions.lab.scenarios import StateRules
from tests.browser.runninglab import IDLE, opened

pytestmark = pytest.mark.whole
MOVES = 15
SEED = 15
SLIDE = """([rule, weight]) => {
  const slider = document.querySelector(`input[type=range][data-rule="${rule}"]`);
  slider.closest("details").open = true;
  slider.value = weight;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
}"""


# --- Sliders ------------------------------------------------------------------------------------------------


def test_random_moves(lab, visit):
    """After each of some random moves of sliders the page shows every pod where ``simulate`` puts it with
    that Policy."""
    page = opened(lab, visit)
    draw = random.Random(SEED)
    rules = list(StateRules(lab.app.lab.spec, lab.state(page)).known.scorers)
    for _ in range(MOVES):
        rule = draw.choice(rules)
        weight = draw.randrange(21)
        page.evaluate(SLIDE, [rule, weight])
        page.wait_for_function(IDLE)
        assert lab.state(page).weights.get(rule, weight) == weight
        assert lab.shows(page) == lab.simulated(page)


def test_other_moves(lab, visit):
    """A switch, a release, a percentage, an edit, undo and redo show what the session holds, and say it
    in words."""
    page = opened(lab, visit)
    page.click("#filters >> xpath=.. >> summary")
    page.click("input[data-rule=GeneralPredicates]")
    page.wait_for_selector("body[data-state='1']")
    assert "find a node now" in page.inner_text("#verdict") or "move" in page.inner_text("#verdict")
    page.select_option("#source select >> nth=0", "1.12")
    page.wait_for_selector("body[data-state='2']")
    page.fill("#cluster textarea", "pod shop/* requests.cpu=2")
    page.press("#cluster textarea", "Enter")
    page.wait_for_selector("body[data-state='3']")
    assert lab.shows(page) == lab.answer(page)
    page.click("#undo")
    page.wait_for_selector("body[data-state='2']")
    page.keyboard.press("Control+Shift+Z")
    page.wait_for_selector("body[data-state='3']")
    assert lab.shows(page) == lab.answer(page)


def test_an_error_stands_at_its_field(lab, visit):
    """An error appears beside its field; the text that was typed stays."""
    page = opened(lab, visit)
    page.fill("#cluster textarea", "pod nope/* requests.cpu=2")
    page.press("#cluster textarea", "Enter")
    page.wait_for_selector(".fault[data-field=edit]:not([hidden])")
    assert "expected at least one Pod that it matches" in page.inner_text(".fault[data-field=edit]")
    assert page.input_value("#cluster textarea") == "pod nope/* requests.cpu=2"


# --- Parts --------------------------------------------------------------------------------------------------


def test_why_and_matrix(lab, visit):
    """A pod of the list and a node of the map give the reason, the matrix and the winner."""
    page = opened(lab, visit)
    page.click("#tab-pods")
    page.fill("#list input[type=search]", "shop/cache")
    page.click("#list .labrows .link >> nth=1")
    page.wait_for_selector("#why tr.winner")
    page.wait_for_selector("#why .matrix")
    pod = page.inner_text("#why h3 >> nth=0")
    host = lab.answer(page)[pod][0]
    assert page.inner_text("#why tr.winner button") == host
    page.focus("#maps .groups")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_selector("#why .note")
    node = page.evaluate("document.lab.chosen.node")
    assert node in page.inner_text("#why .note")


def test_why_nowhere(lab, visit):
    """For a pod that fits nowhere the page has the reasons in words, the scheduler's message, and the nodes
    that reject it."""
    page = opened(lab, visit)
    page.click("#tab-pods")
    page.click("#list .labrows .link[data-full='analytics/yearly-report']")
    page.wait_for_selector("#why .matrix")
    assert page.inner_text("#why .verdict").startswith(
        "analytics/yearly-report finds no node: stopped by memory on "
    )
    assert "11 of 11 nodes do not fit" in page.inner_text("#why")


def test_pins_side_by_side(lab, visit):
    """A pinned configuration is compared with what comes after it, in words, in numbers, and on a map of
    its own."""
    page = opened(lab, visit)
    page.click("text=Pin as A")
    page.wait_for_selector("#pins table")
    page.evaluate(SLIDE, ["MostRequestedPriority", 20])
    page.wait_for_selector("body[data-state='1']")
    page.select_option("#mapbar select >> nth=1", "A|now")
    page.wait_for_function("() => document.querySelectorAll('#maps .groups').length === 2")
    assert page.inner_text("#numbers").startswith("Compared with pin A")
    assert page.evaluate("document.lab.states.pins.A.number") == 0


def test_a_second_page(lab, visit):
    """A change on one page shows on another page, and on pages that are opened later."""
    first = opened(lab, visit)
    second = first.context.new_page()
    second.goto(lab.url)
    second.wait_for_selector("body[data-state='0']")
    first.evaluate(SLIDE, ["MostRequestedPriority", 20])
    second.wait_for_selector("body[data-state='1']")
    assert lab.shows(second) == lab.answer(first)
