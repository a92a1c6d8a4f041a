"""The objects of a scene: `scene.lifecycle`, `scene.files` and the others, and the contents that they share."""
