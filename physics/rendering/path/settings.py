"""The numbers that a kernel of path tracing gets in one array."""

# places in the array
NEAR = 0  # m along the optical axis, before which nothing is seen
APERTURE = 1  # radius of the lens, m
FOCUS = 2  # distance along the optical axis that is sharp, m
BOUNCES = 3  # how often a path may be scattered
CLAMP = 4  # most that a scattered path may add to a channel; 0: anything
LAMPS = 5  # how many lamps there are
EMITTERS = 6  # how many geoms shine
KIND = 7  # of the surroundings, see `surroundings.py`
COLOUR = 8  # 3: of even surroundings
AMBIENT = 11  # 3: light from all around on matt surfaces, of the file's lamps
MAP_WIDTH, MAP_HEIGHT = 14, 15  # of a map of the surroundings
SUN_SPREAD = 16  # 1 - cosine of the sun's radius; 0: no sun
ENDS = 17  # 4: of the geoms in eights, see `packets_of_eight.py`
SETTINGS = 21
