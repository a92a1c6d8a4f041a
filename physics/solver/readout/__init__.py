"""Quantities for people: by MuJoCo's names, contacts, all of one environment, the table of fields."""
