"""The numbers that a kernel of path tracing gets in one array."""

# places in the array
NEAR = 0  # m along the optical axis, before which nothing is seen
APERTURE = 1  # radius of the lens, m
FOCUS = 2  # distance along the optical axis that is sharp, m
BOUNCES = 3  # how often a path may be scattered
CLAMP = 4  # most that a scattered path may add to a channel; 0: anything
SOLID_ROWS = 5  # rows of the render model that light meets: those before the overlays
LAMPS = 6  # how many lamps there are
EMITTERS = 7  # how many geoms shine
KIND = 8  # of the surroundings, see `surroundings.py`
COLOUR = 9  # 3: of even surroundings
AMBIENT = 12  # 3: light from all around on matt surfaces, of the file's lamps
MAP_WIDTH, MAP_HEIGHT = 15, 16  # of a map of the surroundings
SUN_SPREAD = 17  # 1 - cosine of the sun's radius; 0: no sun
SETTINGS = 18
