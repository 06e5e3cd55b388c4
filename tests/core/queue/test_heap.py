"""The heap's own order."""

import pytest

from kubeclassic.core.queue.backoff import Heap


@pytest.fixture
def heap():
    return Heap(lambda one, other: one[0] < other[0])


def fill(heap, *ranks):
    """Put items named 1, 2, 3... of these ranks."""
    for number, rank in enumerate(ranks, 1):
        heap.put(str(number), (rank, str(number)))


def names(heap):
    """Take out all, head first."""
    return [heap.pop()[1] for _ in range(len(heap))]


class TestHeap:
    def test_equals_leave_the_first_then_backwards(self, heap):
        """Equal items that come in order 1 to n leave as 1, n, n-1 ... 2, as from Go's container/heap."""
        fill(heap, *[0] * 7)
        assert names(heap) == ["1", "7", "6", "5", "4", "3", "2"]

    def test_of_two_equal_children_the_left_one_moves_up(self, heap):
        """Of two equal children the left one moves up."""
        fill(heap, 0, 1, 1, 2)
        assert names(heap) == ["1", "2", "3", "4"]

    def test_what_is_not_there(self, heap):
        """An unknown key is None, and an empty heap has no head."""
        assert (heap.get("1"), heap.remove("1"), heap.peek(), len(heap)) == (None, None, None, 0)
        with pytest.raises(IndexError):
            heap.pop()


def test_an_item_that_becomes_better_goes_first():
    """An item that is replaced by a better one is sifted towards the head from where it lies."""
    heap = Heap[int](int.__lt__)
    for key, item in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        heap.put(key, item)
    heap.put("d", 0)
    assert heap.peek() == 0
