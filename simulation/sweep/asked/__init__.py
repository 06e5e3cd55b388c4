"""What a sweep is asked for: its file, the keys of a grid, and the inputs."""
