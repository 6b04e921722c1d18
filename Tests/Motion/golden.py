#!/usr/bin/env python3
"""Makes golden.json: 2,000 values of motions and animations, computed with 40 digits and apart from both clients.

    Tests/Motion/golden.py > Tests/Motion/golden.json

Times are ms after its start. Tests of both clients read it. Formulas: CSS Easing Functions 2, Web Animations, the damped harmonic oscillator.
"""

import json
import random
from decimal import ROUND_FLOOR, Decimal, getcontext

getcontext().prec = 40
PI = Decimal("3.1415926535897932384626433832795028841971694")
NAMED = {
    "ease": [0.25, 0.1, 0.25, 1], "ease-in": [0.42, 0, 1, 1], "ease-out": [0, 0, 0.58, 1],
    "ease-in-out": [0.42, 0, 0.58, 1],
}  # fmt: skip


def floor(x):
    return x.to_integral_value(ROUND_FLOOR)


def sine_and_cosine(x):
    """By Taylor's series, of the angle within a turn."""
    x -= floor(x / (2 * PI)) * 2 * PI
    terms, term = [Decimal(0), Decimal(0)], Decimal(1)
    for n in range(80):
        terms[n % 2] += term if n % 4 < 2 else -term
        term *= x / (n + 1)
    return terms[1], terms[0]


def bezier(controls, x):
    x1, y1, x2, y2 = map(Decimal, controls)

    def at(first, second, s):
        return 3 * (1 - s) ** 2 * s * first + 3 * (1 - s) * s * s * second + s**3

    low, high = Decimal(0), Decimal(1)
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (low, middle) if at(x1, x2, middle) >= x else (middle, high)
    return at(y1, y2, high)


def eased(curve, x):
    if curve == "linear":
        return x
    if isinstance(curve, str):
        return bezier(NAMED[curve], x)
    if "bezier" in curve:
        return bezier(curve["bezier"], x)
    if "steps" in curve:
        steps, jump = curve["steps"], curve["jump"]
        jumps = {"start": steps, "end": steps, "none": steps - 1, "both": steps + 1}[jump]
        step = floor(x * steps) + (1 if jump in ("start", "both") else 0)
        return min(max(step, 0), jumps) / Decimal(jumps)
    points = [(Decimal(t), Decimal(v)) for t, v in curve["points"]]
    before = [point for point in points if point[0] <= x][-1]
    after = [point for point in points if point[0] > x]
    if not after:
        return before[1]
    (t0, v0), (t1, v1) = before, after[0]
    return v0 + (v1 - v0) * (x - t0) / (t1 - t0)


def spring(response, damping, velocity, x0, t):
    omega, zeta, v0 = 2 * PI / response, damping, velocity
    if abs(zeta - 1) < Decimal("1e-6"):
        return (x0 + (v0 + omega * x0) * t) * (-omega * t).exp()
    root = omega * abs(zeta * zeta - 1).sqrt()
    if zeta < 1:
        sine, cosine = sine_and_cosine(root * t)
        return (-zeta * omega * t).exp() * (x0 * cosine + (v0 + zeta * omega * x0) / root * sine)
    fast, slow = -zeta * omega - root, -zeta * omega + root
    part = (v0 - fast * x0) / (slow - fast)
    return (x0 - part) * (fast * t).exp() + part * (slow * t).exp()


def segment_at(segment, passed):
    start, end, ms = Decimal(segment["from"]), Decimal(segment["to"]), Decimal(segment["ms"])
    curve = segment["curve"]
    if "spring" in curve:
        parts = [Decimal(curve["spring"][name]) for name in ("response", "damping", "velocity")]
        return end + spring(*parts, start - end, passed / 1000)
    if "decay" in curve:
        rate = Decimal(curve["decay"]["rate"]).ln()
        share = (1 - (passed * rate).exp()) / (1 - (ms * rate).exp())
    else:
        share = eased(curve, passed / ms)
    return start + (end - start) * share


def kept(field, value, start, end):
    if field.startswith("scale") and start > 0 and end > 0:
        return max(value, Decimal("0.001"))
    if field.startswith("scale") and start < 0 and end < 0:
        return min(value, Decimal("-0.001"))
    return value


def animated(animation, field, beneath, time):
    keyframes = [(Decimal(k["at"]), Decimal(k["value"]), k["curve"]) for k in animation["tracks"].get(field, [])]
    iterations = animation["iterations"]
    active = max(Decimal(0), time - Decimal(animation["startedAt"])) - Decimal(animation["delayMs"])
    end = Decimal("Infinity") if iterations == "infinite" else Decimal(iterations) * Decimal(animation["ms"])
    if not keyframes or active < 0 or active >= end:
        return beneath
    overall = active / Decimal(animation["ms"])
    iteration = floor(overall)
    backwards = {
        "normal": False, "reverse": True, "alternate": iteration % 2 == 1, "alternate-reverse": iteration % 2 == 0,
    }[animation["direction"]]  # fmt: skip
    place = overall - iteration
    place = 1 - place if backwards else place
    if animation["composite"] == "add":
        keyframes = [(at, beneath + value, curve) for at, value, curve in keyframes]
    if keyframes[0][0] > 0:
        keyframes.insert(0, (Decimal(0), beneath, "linear"))
    if keyframes[-1][0] < 1:
        keyframes.append((Decimal(1), beneath, "linear"))
    if place == 1 and keyframes[-2][0] == 1:
        return keyframes[-1][1]
    first = max(index for index, (at, _, _) in enumerate(keyframes) if at <= place and at < 1)
    (t0, v0, curve), (t1, v1, _) = keyframes[first], keyframes[first + 1]
    return kept(field, v0 + (v1 - v0) * eased(curve, (place - t0) / (t1 - t0)), v0, v1)


def shown(case, time):
    field, value, time = case["field"], Decimal(case["stored"]), Decimal(time)
    track = case["motion"].get(field)
    if track:
        passed = max(Decimal(0), time - Decimal(track["startedAt"]))
        for segment in track["segments"]:
            if passed < Decimal(segment["ms"]):
                value = segment_at(segment, passed)
                value = kept(field, value, Decimal(segment["from"]), Decimal(segment["to"]))
                break
            passed -= Decimal(segment["ms"])
    if "animation" in case:
        value = animated(case["animation"], field, value, time)
    if field == "opacity":
        value = min(max(value, Decimal(0)), Decimal(1))
    return value - 360 * floor(value / 360) if field == "rotation" else value


# Cases by chance.

chance = random.Random(46)
FIELDS = {"positionX": (-5000, 5000), "rotation": (0, 360), "scaleX": (-5, 5), "scaleY": (0.1, 3), "opacity": (0, 1)}
START = 1_796_000_000_000


def number(low, high, digits=3):
    return round(chance.uniform(low, high), digits)


def easing(points=False):
    kind = chance.choice(["name", "bezier", "bezier", "steps"] + ["points"] * points)
    if kind == "name":
        return chance.choice(["linear", *NAMED])
    if kind == "bezier":
        return {"bezier": [number(0, 1), number(-2, 2), number(0, 1), number(-2, 2)]}
    if kind == "steps":
        return {"steps": chance.randint(2, 12), "jump": chance.choice(["start", "end", "none", "both"])}
    inner = sorted(number(0, 1) for _ in range(chance.randint(0, 4)))
    return {"points": [[at, number(-2, 3)] for at in [0, *inner, 1]]}


def curve():
    kind = chance.choice(["easing", "spring", "decay"])
    if kind == "easing":
        return easing()
    if kind == "decay":
        return {"decay": {"rate": number(0.9, 0.9995, 4)}}
    damping = chance.choice([number(0.05, 0.999), 1, 1.0000001, number(1.001, 5)])
    response, velocity = number(0.02, 3), chance.choice([0, number(-5000, 5000)])
    return {"spring": {"response": response, "damping": damping, "velocity": velocity}}


def track(low, high):
    values = [number(low, high) for _ in range(chance.choice([2, 2, 3]))]
    segments = [
        {"from": start, "to": end, "ms": number(20, 2000, 2), "curve": curve()}
        for start, end in zip(values, values[1:], strict=False)
    ]
    return {"startedAt": START + number(0, 500, 2), "segments": segments}


def animation(field, low, high):
    places = sorted(chance.choice([0, 1, number(0, 1)]) for _ in range(chance.randint(1, 6)))
    keyframes = [{"at": at, "value": number(low, high), "curve": easing(True)} for at in places]
    return {
        "ms": number(100, 2000, 2), "iterations": chance.choice([1, number(1, 4), "infinite"]),
        "direction": chance.choice(["normal", "reverse", "alternate", "alternate-reverse"]),
        "delayMs": chance.choice([0, number(0, 500, 2)]), "composite": chance.choice(["replace", "add"]),
        "tracks": {field: keyframes}, "startedAt": START + number(0, 500, 2),
    }  # fmt: skip


def case():
    field = chance.choice(list(FIELDS))
    low, high = FIELDS[field]
    made = {"field": field, "stored": number(low, high), "motion": {}}
    kind = chance.choice(["motion", "motion", "animation", "both"])
    if kind != "animation":
        made["motion"][field] = track(low, high)
    if kind != "motion":
        made["animation"] = animation(field, low, high)
    lengths = [sum(part["ms"] for part in track["segments"]) for track in made["motion"].values()]
    at = [number(-100, 500 + max(lengths, default=2500), 3) for _ in range(8)]
    return {**made, "at": at, "values": [round(float(shown(made, START + time)), 11) for time in at]}


cases = ",\n".join(json.dumps(case(), separators=(",", ":")) for _ in range(250))
print(f'{{"start":{START},"cases":[\n{cases}\n]}}')
