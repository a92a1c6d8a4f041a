"""A window that shows pictures side by side, by pygame."""

import math
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled, Error

from ...physics.machine.libraries import pip_install


class Window:
    """A window that opens when the first pictures are shown."""

    def __init__(self) -> None:
        self._surface: Any = None
        self._clock: Any = None

    def show(self, pictures: np.ndarray, fps: float) -> None:
        """Show pictures (k, height, width, 3) uint8, after a wait that keeps to `fps` pictures a second at most.

        Raises:
            DependencyNotInstalled: there is no pygame.
            gymnasium.error.Error: there is no display.
        """
        try:
            import pygame
        except ImportError as error:
            raise DependencyNotInstalled(
                f'render_mode="human" needs pygame: {pip_install("window")}; "rgb_array" needs no window'
            ) from error
        tiled = side_by_side(pictures)
        if self._surface is None:
            try:
                pygame.display.init()
                self._surface = pygame.display.set_mode(tiled.shape[1::-1])
            except pygame.error as error:
                raise Error(f'render_mode="human" needs a display ({error}); "rgb_array" needs none') from error
            self._clock = pygame.time.Clock()
        self._surface.blit(pygame.surfarray.make_surface(tiled.transpose(1, 0, 2)), (0, 0))
        pygame.event.pump()
        self._clock.tick(fps)
        pygame.display.flip()

    def close(self) -> None:
        """Close the window, if it was opened."""
        if self._surface is not None:
            import pygame

            pygame.display.quit()
            self._surface = None


def side_by_side(pictures: np.ndarray) -> np.ndarray:
    """One picture (rows height, columns width, 3) of pictures (k, height, width, 3), as square as it can be."""
    count, height, width, colours = pictures.shape
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    cells = np.zeros((rows * columns, height, width, colours), pictures.dtype)
    cells[:count] = pictures
    tiled = cells.reshape(rows, columns, height, width, colours).transpose(0, 2, 1, 3, 4)
    return tiled.reshape(rows * height, columns * width, colours)
