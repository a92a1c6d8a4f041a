"""Arms and hands that reach, push, pick, stack and turn things."""
