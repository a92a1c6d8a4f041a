"""Machine code of stages: where it is kept between processes."""
