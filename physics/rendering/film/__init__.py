"""Pictures as files: films, captions, sheets of many environments."""
