"""What the commands do that stay in touch with a live cluster, or answer others: ``run``, ``shadow`` and ``serve``."""
