"""The shapes of the contract, as sets of keys."""

import numbers

# The keys of every flat element; others may stand behind them.
ELEMENT = {
    "id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY", "originalWidth",
    "originalHeight", "anchorX", "anchorY", "createdBy", "updatedBy", "rev",
}
JOINED = {
    "ok", "roomId", "epoch", "seq", "recovered", "members", "session", "sid", "n", "throttleMs", "limits", "rules",
}


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def assert_element(element, **expected):
    """A whole flat element, with these values among others."""
    assert ELEMENT <= element.keys(), ELEMENT - element.keys()
    for key in ELEMENT - {"id", "type", "createdBy", "updatedBy"}:
        assert is_number(element[key]), (key, element)
    for key, value in expected.items():
        if is_number(value) and not isinstance(value, bool):
            assert abs(element[key] - value) < 1e-6, (key, value, element)
        else:
            assert element[key] == value, (key, value, element)


def assert_preview(preview, keys=()):
    """A preview with exactly the contract's fields, and of the optional ones those given."""
    base = {"roomId", "elementId", "userId", "sid", "transform", "gesture", "after", "n", "dt"}
    assert base <= preview.keys() | {"transform"}, preview
    assert preview.keys() <= base | {"positionX", "positionY"}, preview
    for key in keys:
        assert key in preview, (key, preview)
    assert isinstance(preview["transform"], dict)
    assert preview["gesture"] >= 1 and preview["n"] >= 1 and preview["dt"] >= 0 and preview["after"] >= 0
