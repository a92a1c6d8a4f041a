"""Tumble against MuJoCo, one step at a time: states, reference values, comparison, report.

The order of ORACLES: the same model object, the same state in both, every quantity compared stage by stage, so that
the first failure names the guilty stage. `run_parity` in `run.py` is the door.
"""
