"""An unknown condition or terrain is refused; the message lists the known ones."""

import pytest

from tumble.envs.registry import make_task

from .test_parity import available

pytestmark = pytest.mark.skipif(not available(), reason="MyoSuite's models are not installed")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("myoHandReachFixed", {"condition": "tired"}, "MyoReach: condition is 'tired'; there are .*fatigue"),
        ("motorFingerReachFixed", {"condition": "fatigue"}, "the model has no muscles"),
        ("myoLegHillyTerrainWalk", {"terrain": "flat"}, "MyoLegTerrainWalk: terrain is 'flat'; there are rough, hilly"),
    ],
)
def test_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        make_task(f"myosuite/{name}-v0", options).load_model()
