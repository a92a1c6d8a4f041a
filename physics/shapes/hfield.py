"""Height fields: ground between z = -base and heights from 0 to the elevation, over a rectangle.

Its heights are in tables of their own: rays meet it by `rays/field_walk.py`.
"""

NUMBERS = ("radius_x", "radius_y", "elevation", "base")
