"""Results of runs: curves, films, replays."""
