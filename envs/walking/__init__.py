"""Robots that walk: a quadruped and a biped, on flat and rough ground."""
