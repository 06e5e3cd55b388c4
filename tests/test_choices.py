"""The names and defaults that the help tells are those that there are."""

import attrs
import pytest

from kubeclassic import choices
from kubeclassic.algorithmprovider.cells import TIE_BREAKS
from kubeclassic.framework.config.configuration import KIND
from kubeclassic.framework.releases import FRAMEWORK_RELEASES, NEWEST_RELEASE
from kubeclassic.questions.replay.simulatedcluster import Delays
from kubeclassic.simulation.sides import MODES
from kubeclassic.simulation.simulate import ORDERS


@pytest.mark.parametrize(
    "told, there",
    [
        (choices.TIE_BREAKS, tuple(TIE_BREAKS)),
        (choices.ORDERS, ORDERS),
        (choices.DELAYS, attrs.asdict(Delays())),
        (choices.LOCKED, "locked"),
        (choices.MODES, MODES),
        (choices.KIND, KIND),
        (choices.NEWEST_RELEASE, NEWEST_RELEASE),
        (choices.FIRST_FRAMEWORK, next(iter(FRAMEWORK_RELEASES))),
    ],
)
def test_what_is_told_is_there(told, there):
    """Each choice of the help is the one of the module that acts on it, in its order."""
    assert told == there
