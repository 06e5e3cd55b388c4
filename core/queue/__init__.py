"""The scheduling queue: which pod is tried next, and how long the others wait.

``protocol`` says what a queue does. ``base`` is the queue by priority that all releases share, ``priority``
that of 1.12 to 1.16, and which queue a release has; that of the framework is in ``framework/queue``. ``fifo``
is the queue without priorities. The parts: ``heap``, ``parked``, ``backoff``.
"""
