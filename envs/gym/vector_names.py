"""The flat names of vector environments: `envs.render_grid` is `envs.pictures.render_grid`, and so on."""

from ...physics.base.flat_names import flat_names
from .episodes import Episodes
from .pictures import VectorPictures
from .snapshots import Snapshots


@flat_names(
    episodes="""
        autoreset_mode episode_lengths=lengths max_episode_steps=max_steps np_random_seed=seeds
        state_dict load_state_dict
    """,
    pictures="""
        render render_mode render_envs render_tensor render_grid render_together dress_pictures=dress body_pixels
    """,
    snapshots="snapshot=take restore branch",
)
class VectorNames:
    """Names for members of the parts of vector environments."""

    episodes: Episodes
    pictures: VectorPictures
    snapshots: Snapshots
