"""What edits do to elements, as the requests and the log's rows say it."""

# The events of the log's rows, by the edits that they come from.
ROWS = {
    "element:create": "element:created", "elements:create": "elements:created", "element:transform": "element:transformed",
    "element:gesture": "element:transformed", "element:preset": "element:transformed",
    "elements:transform": "elements:transformed", "elements:gesture": "elements:transformed",
    "element:update": "element:updated", "element:delete": "element:deleted", "elements:delete": "element:deleted",
}
TURNS = {"rotateCW": 90, "rotate180": 180, "rotateCCW": 270}


def elements_of(body):
    """The ids of the elements that an edit changes."""
    if "elementId" in body:
        return [body["elementId"]]
    if "element" in body:
        return [body["element"]["id"]]
    listed = body.get("elements") or body.get("elementIds") or []
    return [each if isinstance(each, str) else each.get("elementId") or each["id"] for each in listed]


def did(row, event, body):
    """Whether a row of the log is what an edit does."""
    if event.startswith("history:"):
        return row["cause"] == event.removeprefix("history:")
    if row["cause"] or row["event"] != ROWS[event]:
        return False
    names = elements_of(body)
    # Annotations go with what they belong to.
    if event.endswith(":delete"):
        return all(name in row["changes"] and row["changes"][name][1] is None for name in names)
    if set(names) != set(row["changes"]):
        return False
    listed = body.get("elements")
    parts = listed if listed and isinstance(listed[0], dict) else [body.get("element", body)] * len(names)
    return all(_did(event, part, *row["changes"][name]) for name, part in zip(names, parts))


def _did(event, part, before, after):
    """Whether an edit makes one element out of another."""
    if after is None or (before is None) != event.endswith(":create"):
        return False
    if event.endswith(":create"):
        return contains(after, part)
    if event == "element:update":
        return contains(after, part["set"])
    if event == "element:preset":
        return abs((after["rotation"] - before["rotation"] - TURNS[part["preset"]] + 180) % 360 - 180) < 1e-6
    if event.endswith(":gesture"):
        shift = part["translation"]
        return all(after[f"position{axis.upper()}"] - before[f"position{axis.upper()}"] == shift[axis] for axis in shift)
    return contains(after, {name: part[name] for name in ("positionX", "positionY")} | part.get("transform", {}))


def is_catch(row):
    """Whether a row is what clients do for fingers that touch what flies: it stops where it is seen, if it still flies."""
    if row["cause"] or row["event"] not in ("element:transformed", "elements:transformed"):
        return False
    return all(before and after and _is_caught(before, after) for before, after in row["changes"].values())


def _is_caught(before, after):
    changed = {name for name in before | after if before.get(name) != after.get(name)} - {"rev", "updatedBy", "motion"}
    return changed <= {"positionX", "positionY"} & before.get("motion", {}).keys()


def can_be_one(edits):
    """Transforms of one element that waited together are one."""
    return all(edit.event == "element:transform" for edit in edits) and len({edit.body["elementId"] for edit in edits}) == 1


def can_be_refused(event, code):
    """Whether a refusal with that code may be of such an edit."""
    return not (event.endswith(":create") and code in ("gone", "not_found"))


def merged(edits):
    """The body of edits that are one."""
    body = edits[0].body
    for edit in edits[1:]:
        body = {**body, **edit.body, "transform": body["transform"] | edit.body["transform"]}
    return body


def is_same(edit, saved):
    """Whether what a store holds is this edit."""
    return edit.event == saved["event"] and contains(saved["body"], edit.body)


def contains(whole, part):
    """Whether something has all fields of something else, at every depth."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and contains(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(contains, whole, part))
    return whole == part
