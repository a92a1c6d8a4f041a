"""Path tracing: pictures in which light goes from surface to surface, by many random paths a pixel.

`tracer.PathTracer` is the door. A sample of a pixel is one path (`integrator.py`) from the lens through the
scene (`cast.py`, `packets_of_eight.py`), scattered by surfaces (`scattering.py`) and lit by lamps, by geoms
that shine (`emitters.py`) and by what is all around (`surroundings.py`). Samples are added up in a `Film`,
cleaned of noise (`denoise.py`) and shown by the curve of the ray caster.

Light is linear. Radiance is in the units of `Look`: a white surface that faces a lamp of `diffuse` 1 has radiance 1,
and one under a sky of radiance 1 all around has radiance 1, too.
"""
