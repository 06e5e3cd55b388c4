"""The words for kinds, as kubectl takes them."""

import pytest

from kubeclassic.api.objects import KINDS, Node
from kubeclassic.api.words import SHORT, kind_of
from kubeclassic.exceptions import UnknownNameError, WrongTypeError


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_known_by_its_names(kind):
    """Each kind is known by itself in any case, and by its class."""
    assert kind_of(kind) is kind_of(kind.upper()) is kind_of(KINDS[kind]) is KINDS[kind]


@pytest.mark.parametrize(
    ("word", "kind"),
    [*SHORT.items(), ("storageclasses.storage.k8s.io", "StorageClass"), ("services", "Service")],
)
def test_plurals_and_short_names(word, kind):
    """Plurals and kubectl's short names are known too, also with the API group behind."""
    assert kind_of(word) is KINDS[kind]


def test_other_words():
    """An unknown word is refused with near ones, anything else with what is wanted."""
    with pytest.raises(
        UnknownNameError,
        match=r'^kind: expected one such as pod, node or pvc, got "nodse"; did you mean "node"',
    ):
        kind_of("nodse")
    with pytest.raises(WrongTypeError, match=r"^kind: expected a class such as Pod, .*, got 7 \(int\)"):
        kind_of(7)
    assert kind_of(Node) is Node
