"""Libraries that draw curves into windows while a scene runs: none. Scripts that ask before they draw go on."""

IS_MATPLOTLIB_AVAILABLE = False
IS_PYQTGRAPH_AVAILABLE = False
