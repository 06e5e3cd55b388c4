"""The scheduling queue: which pod is tried next, and how long the others wait.

``priority`` defines what a queue does. It has the queue by priority that all releases share and that of 1.12
to 1.16, and chooses the queue of a release; the framework's is in ``framework/queue``. ``backoff`` has the
parts.
"""
