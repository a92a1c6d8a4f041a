"""Numbers of transmissions, as kernels have them in `actuator_type` and `trn_kind`."""

TENDON = 4
"""`actuator_type` of actuators that pull a tendon. Below it are the types of joints."""
SITE, REFSITE, SLIDER_CRANK, BODY, TURN, BALL_TURN = range(TENDON + 1, TENDON + 7)
"""The same of actuators at a site, without and with a reference; on a slider-crank; with adhesion of a body; on the
orientation of a site by another one; on that of a ball joint."""
FIRST, SECOND = 1, 2
"""Bits of `trn_side`: a dof moves the first site, or the second."""
