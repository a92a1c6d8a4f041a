"""Matter in scenes: the particles of a morph, the solver with Genesis' names, matter beside the bodies of a scene.

Only scenes that have matter import it, or `tumble.soft`.
"""
