"""Whatever is given to any option of any question in Python: an answer, or one line of ours that says what
was wanted."""

import inspect
import warnings
from contextlib import suppress

import pytest

import kubeclassic
from kubeclassic import KubeclassicError
from tests.conftest import ROOT
from tests.support.manifests import node, pod

CLUSTER = [node("a"), pod("web", 1)]
CASES = ROOT / "tests/conformance/1.16/taints.cases.jsonl.gz"
QUESTIONS = {
    "simulate": (CLUSTER, {}),
    "capacity": (CLUSTER, {"pod": pod("x")}),
    "add_nodes": (CLUSTER, {"nodes": "like:a"}),
    "explain": (CLUSTER, {"pod": "web"}),
    "what_if": (CLUSTER, {"pod": "web"}),
    "drain": (CLUSTER, {"nodes": "a"}),
    "compare": (CLUSTER, {"a": "1.12", "b": "1.16"}),
    "upgrade": (CLUSTER, {"start": "1.30", "end": "1.31"}),
    "replay": (CLUSTER, {}),
    "sweep": ({"cluster": CLUSTER, "grid": {"release": ["1.16"]}}, {}),
    "migrate": ({"kind": "Policy"}, {}),
    "conform": (CASES, {}),
}
"""Question -> what is asked about, and options without which it is none."""
ODD = (
    None,
    True,
    0,
    -1,
    3,
    2.5,
    float("nan"),
    "",
    "x",
    "\0",
    b"x",
    [],
    ["x"],
    [1],
    {},
    {"a": 1},
    object(),
    "1.16",
    "a=b",
)

ONE_IN = 4


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_value_is_a_defect(name):
    """A value of another type, out of its limits or without a meaning is refused by an error of the package,
    and an unknown option too."""
    function = getattr(kubeclassic, name)
    (about, options) = QUESTIONS[name]
    names = list(inspect.signature(function).parameters)[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Each option has some of the values, others than the option before it.
        for option, value in (
            (option, value) for number, option in enumerate(names) for value in ODD[number % ONE_IN :: ONE_IN]
        ):
            with suppress(KubeclassicError):
                function(about, **{**options, option: value})
    with pytest.raises(KubeclassicError, match=f"^{name}: got an option "):
        function(about, **options, nosuch=1)
