"""The numbers that a kernel of path tracing gets in one array; the camera's frustum comes first."""

# places in the array
FRUSTUM = 0  # 5: left, right, bottom, top at unit distance; 1 if orthographic
NEAR = 5  # m along the optical axis, before which nothing is seen
APERTURE = 6  # radius of the lens, m
FOCUS = 7  # distance along the optical axis that is sharp, m
BOUNCES = 8  # how often a path may be scattered
CLAMP = 9  # most that a scattered path may add to a channel; 0: anything
SOLID_ROWS = 10  # rows of the render model that light meets: those before the overlays
LAMPS = 11  # how many lamps there are
EMITTERS = 12  # how many geoms shine
KIND = 13  # of the surroundings, see `surroundings.py`
COLOUR = 14  # 3: of even surroundings
AMBIENT = 17  # 3: light from all around on matt surfaces, of the file's lamps
MAP_WIDTH, MAP_HEIGHT = 20, 21  # of a map of the surroundings
SUN_SPREAD = 22  # 1 - cosine of the sun's radius; 0: no sun
SETTINGS = 23
