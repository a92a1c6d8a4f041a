"""Tests with training libraries; each is skipped where its library is missing."""
