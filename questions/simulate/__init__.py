"""Where the pods that wait go."""
