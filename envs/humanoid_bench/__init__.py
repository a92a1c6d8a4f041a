"""HumanoidBench's tasks of the H1 without hands; the models lie in a folder that the person names (MIT)."""
