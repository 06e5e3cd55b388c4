"""The component configuration of the framework: profiles, plugin arguments, gates, and their validation."""
