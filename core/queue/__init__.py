"""The scheduling queue: which pod is tried next, and how long the others wait.

``priority`` says what a queue does, and has the queue by priority that all releases share, that of 1.12 to
1.16, and which queue a release has; that of the framework is in ``framework/queue``. ``backoff`` has the
parts.
"""
