"""A scene as text, its state in a file, and its recorded movement."""
