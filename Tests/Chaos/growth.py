"""What processes and tables take over time, and whether it grows."""

import os
import statistics

MEGABYTE = 1 << 20


class Limit:
    """How much something may grow from the end of the warm-up to the end of the run: an amount, or a share of what it was,
    whichever is more."""

    def __init__(self, unit, amount, share, size=1):
        self.unit = unit
        self.amount = amount
        self.share = share
        # Units are printed as so many of what was sampled.
        self.size = size


MEMORY = Limit("MiB", 4 * MEGABYTE, 0.08, MEGABYTE)
LIMITS = {
    "memory": MEMORY,
    # Gateways share the apps by chance; each server process of PostgreSQL opens the files that it comes across.
    "descriptors": Limit("", 12, 0.15),
    "threads": Limit("", 1, 0),
    # What nobody is allowed to write all the time.
    "log": Limit("KiB", 256 << 10, 0.10, 1024),
    "disk": Limit("MiB", 4 * MEGABYTE, 0.10, MEGABYTE),
    # Of two days or three, which come and go whole, and one has more visits than another. What nothing deletes more than
    # doubles.
    "days": Limit("MiB", 4 * MEGABYTE, 0.30, MEGABYTE),
    "rows": Limit("", 100, 0.30),
    "bytes a row": Limit("", 100, 0.10),
}


class Series:
    """One figure over time."""

    def __init__(self, owner, kind):
        self.owner = owner
        self.kind = kind
        self.points = []

    def judged(self, since):
        """The points after a moment."""
        return [(at, value) for at, value in self.points if at >= since]

    def growth(self, since):
        """By how much it grew from that moment to the end: the median of the slopes between points that are at least a
        quarter of that time apart, over the whole of it. A few samples at a bad moment do not matter."""
        points = self.judged(since)
        if len(points) < 8:
            return None
        length = points[-1][0] - points[0][0]
        thin = points[:: max(1, len(points) // 300)]
        slopes = [
            (late - early) / (end - begin) for index, (begin, early) in enumerate(thin)
            for end, late in thin[index + 1 :] if end - begin >= length / 4
        ]
        return statistics.median(slopes) * length


class Growth:
    """All series of a run."""

    def __init__(self):
        self.series = {}

    def add(self, owner, kind, at, value):
        self.series.setdefault((owner, kind), Series(owner, kind)).points.append((at, value))

    def table(self, since):
        """Lines to print, and those of them that say that something grows."""
        lines = [f"{'':14} {'':12} {'at first':>10} {'at last':>10} {'most':>10} {'growth':>10} {'allowed':>10}"]
        bad = []
        for (owner, kind), series in sorted(self.series.items()):
            limit = LIMITS[kind]
            values = [value for _, value in series.judged(since)]
            growth = series.growth(since)
            if growth is None:
                bad.append(f"{owner}: too few samples of {kind}")
                continue
            quarter = max(1, len(values) // 4)
            early, late = statistics.median(values[:quarter]), statistics.median(values[-quarter:])
            allowed = max(limit.amount, limit.share * early)
            row = " ".join(f"{number / limit.size:10.1f}" for number in (early, late, max(values), growth, allowed))
            lines.append(f"{owner:14} {kind:12} {row} {limit.unit}".rstrip())
            if growth > allowed:
                bad.append(f"grows: {lines[-1]}")
        return lines, bad


def usage(pids):
    """Proportional set size, descriptors and threads of some processes together; None when one has ended."""
    memory = descriptors = threads = 0
    try:
        for pid in pids:
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                memory += next(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Pss:"))
            descriptors += len(os.listdir(f"/proc/{pid}/fd"))
            threads += len(os.listdir(f"/proc/{pid}/task"))
    except (OSError, StopIteration):
        return None
    return memory, descriptors, threads


def family(pid):
    """A process and its children."""
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return [pid, *map(int, children.read().split())]


def size_of(folder):
    """Bytes of the files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                pass
    return total
