"""Tests of arms and hands."""
