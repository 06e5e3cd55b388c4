"""Notes: a dict in which slots are keys of their own, and which a copy leaves out of templates."""

import pickle

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.pods.template import CycleState, StateKey, Templates
from tests.support.build import pod

PORTS = StateKey("ports")


def test_slots_of_one_name_do_not_meet():
    """A slot is only equal to itself."""
    other = StateKey("ports")
    notes = CycleState()
    notes[PORTS] = 1
    notes[other] = 2
    assert (notes[PORTS], notes[other], len(notes)) == (1, 2, 2)
    assert other != PORTS


def test_no_python_call():
    """A slot is hashed and compared as an object is."""
    assert StateKey.__hash__ is object.__hash__
    assert StateKey.__eq__ is object.__eq__


def test_a_slot_that_is_pickled_with_its_owner_stays_the_key():
    """The notes of a cycle in a copy are found by the plugin that is in it too; a slot of a module is another
    one."""
    notes = CycleState()
    notes[PORTS] = 1
    owned, found = pickle.loads(pickle.dumps((PORTS, notes)))
    assert (found.get(owned), found.get(PORTS)) == (1, None)


def test_a_copy_leaves_notes_out():
    """A template that was pickled starts with empty notes."""
    template = Templates(RELEASES["1.16"], {}).of(pod("a"))
    template.notes[PORTS] = 1
    assert pickle.loads(pickle.dumps(template)).notes == {}
