"""Tests of the benchmarks: that they measure the right thing, not how fast it is."""
