"""Questions about geoms that no step asks: where they are, how far apart, whether they overlap, what rays hit."""
