"""Published traces as manifests: ``kubeclassic import``. A file a trace; each says what becomes of which
column, and what is dropped."""
