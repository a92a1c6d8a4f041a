"""The style of films: what is written, how time passes, what is refused."""

import numpy as np
import pytest

from tumble.training.errors import TumbleUserError
from tumble.training.results.film_style import FilmStyle, Scoreboard


def test_a_scoreboard_counts_time_and_returns():
    board = Scoreboard(FilmStyle(overlays=("time", "reward", "terms")), 2)
    infos = {"reward_alive": np.array([1.0, 0.5]), "x_position": np.zeros(2), "_reward_alive": np.ones(2, bool)}
    board.add(0.05, np.array([1.0, 2.0]), infos)
    board.add(0.05, np.array([3.0, 4.0]), infos)
    assert board.lines(0) == ["0.10 s", "reward +3.000   return 4.00", "alive +1.000"]
    board.add(0.05, np.array([0.5, 0.5]), infos, ended=np.array([False, True]))
    assert board.lines(0)[1].endswith("return 4.50") and board.lines(1)[1].endswith("return 0.50")
    assert Scoreboard(FilmStyle(), 1).lines(0) == []


def test_the_largest_terms_are_written_in_their_order():
    board = Scoreboard(FilmStyle(overlays=("terms",)), 1)
    board.add(0.1, np.zeros(1), {f"reward_{k}": np.array([k - 7.5]) for k in range(20)})
    lines = board.lines(0)
    assert len(lines) == 12 and lines[0] == "0 -7.500" and lines[-1] == "19 +11.500" and "7 -0.500" not in lines


def test_text_is_written_into_each_environments_picture():
    board = Scoreboard(FilmStyle(overlays=("reward",)), 2)
    board.add(0.1, np.array([1.0, 2.0]))
    frames = np.full((2, 60, 120, 3), 100, np.uint8)
    shown = board.write(frames, np.full((2, 1, 2), 40.0), ["torso"])
    assert (shown[0] != shown[1]).any() and (shown[:, 40, 40] == 255).all()
    assert np.array_equal(Scoreboard(FilmStyle(), 2).write(frames), frames)


def test_slow_motion_and_what_renderers_are_told():
    assert FilmStyle(slow=4.0).fps(50.0) == 12.5 and FilmStyle().rendering == {}
    told = FilmStyle(overlays=("contacts", "forces", "collision", "time"), look="file", soft=True).rendering
    assert told["show"].contacts and told["show"].contact_forces and told["show"].geom_groups == (3,)
    assert told["look"].lights == "file" and told["look"].soft_shadows == 16


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ({"overlays": ("rewards",)}, "no overlay 'rewards'; nearest: reward"),
        ({"look": "moon"}, "no look 'moon'"),
        ({"slow": 0.0}, "slow=0.0"),
        ({"spacing": float("nan")}, "spacing=nan"),
        ({"spacing": 1.0, "overlays": ("names",)}, "without spacing"),
    ],
)
def test_what_no_film_has_is_refused(style, message):
    with pytest.raises(TumbleUserError, match=message):
        FilmStyle(**style)
