"""The axes of bodies, and the frames of sites: what a step does without, and tasks read most."""

from ...base.stage import stage


@stage(reads="xpos xquat", writes="xmat site_xpos site_xmat")
def body_and_site_frames(model, work):
    """Set xmat of all bodies, and site_xpos and site_xmat of all sites.

    A matrix is kept by its columns: those of the inverse rotation are the rows of these.
    """
    for b in range(model.nbody):
        work.xmat.put(b, work.lanes.cast(work.xquat[b].conjugate().matrix()))
    for s in range(model.nsite):
        body = model.site_bodyid[s]
        quat = work.xquat[body]
        work.site_xpos.put(s, work.lanes.cast(work.xpos[body] + quat.rotate(model.site_pos[s])))
        work.site_xmat.put(s, work.lanes.cast((quat * model.site_quat[s]).conjugate().matrix()))
