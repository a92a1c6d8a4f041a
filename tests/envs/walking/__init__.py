"""Tests of walking tasks."""
