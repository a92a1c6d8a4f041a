"""The model: constant numbers of a mechanism. MJCF is loaded and checked here, and laid out for the kernels.

MuJoCo compiles the model; Tumble copies numbers of the compiled `mjModel` and never parses XML for them.

Words of this room: *explicit pairs* are MJCF's `<contact><pair>` ("by hand" in names); a *feature* is optional
code of kernels (`features`); a *parameter* is a field that may have a value per environment (*own
numbers*); *constants* are fields that MuJoCo's `mj_setConst` derives from others.
"""
