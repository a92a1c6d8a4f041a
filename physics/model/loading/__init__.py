"""From a file, an XML string or a compiled model to a checked one, and back to a file."""
