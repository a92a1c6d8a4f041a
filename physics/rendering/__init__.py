"""Pictures of a solver's environments, by a ray caster in Taichi; films.

Poses come from the solver by name (`geom_xpos`, `cam_xmat`, ...); nothing here knows how it stores them. Camera frames
are MuJoCo's: x right, y up, looking along -z. Lengths are metres, pictures (environment, row from the top, column).
"""

from .camera import Camera
from .look import Look
from .renderer import BatchRenderer, Images
from .video import save_png, write_video

__all__ = ["BatchRenderer", "Camera", "Images", "Look", "save_png", "write_video"]
