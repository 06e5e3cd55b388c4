"""Which taints tolerations put up with."""

import pytest

from kubeclassic.api.meaning.labels import tolerates, toleration_tolerates
from kubeclassic.api.objects import Taint, Toleration

TAINT = Taint(key="gpu", value="yes", effect="NoSchedule")


class TestToleration:
    @pytest.mark.parametrize(
        ("toleration", "covers"),
        [
            (Toleration(key="gpu", operator="Equal", value="yes", effect="NoSchedule"), True),
            (Toleration(key="gpu", value="yes"), True),
            (Toleration(key="gpu", operator="Exists"), True),
            (Toleration(operator="Exists"), True),
            (Toleration(key="gpu", operator="Exists", value="other"), True),
            (Toleration(key="gpu", operator="Exists", effect="NoExecute"), False),
            (Toleration(key="gpu", value="no"), False),
            (Toleration(key="other", operator="Exists"), False),
            (Toleration(key="gpu", operator="exists"), False),
            (Toleration(), False),
            (Toleration(key="gpu", operator="Exists", toleration_seconds=0), True),
        ],
    )
    def test_key_value_and_effect(self, toleration, covers):
        """Effect and key are equal or left out; the value is equal, or the operator Exists; seconds do not
        matter."""
        assert toleration_tolerates(toleration, TAINT) is covers

    def test_an_empty_key_covers_any_key_of_that_value(self):
        """An empty key with operator Equal covers every key that has this value."""
        assert toleration_tolerates(Toleration(operator="Equal", value="yes"), TAINT)

    def test_one_of_several_is_enough(self):
        """A taint is put up with if any toleration covers it; none covers nothing."""
        assert tolerates([Toleration(key="a"), Toleration(key="gpu", operator="Exists")], TAINT)
        assert not tolerates([], TAINT)
