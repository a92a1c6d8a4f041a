"""Contacts between geoms.

The normal points from geom 1 to geom 2, geom 1 being the one of the smaller type (MuJoCo's order). A distance is
negative when the geoms penetrate; the contact point lies midway between the two surfaces. Units: metres.
"""
