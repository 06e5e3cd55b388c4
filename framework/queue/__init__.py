"""The scheduling queue of the framework, and the events that move its pods."""
