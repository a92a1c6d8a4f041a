"""The content of pictures: geoms and their appearance, lights, overlays, height fields, tendons."""
