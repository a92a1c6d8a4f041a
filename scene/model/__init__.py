"""From morphs, materials and surfaces to one model of the scene."""
