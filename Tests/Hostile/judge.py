"""What the victim felt, and whether that is acceptable."""

import dataclasses
import math

MEBIBYTE = 1 << 20


@dataclasses.dataclass
class Limits:
    """What an attack may cost."""

    # Delays during an attack relative to calm ones, and what a busy machine adds, ms.
    factor: float = 3.0
    allowance: float = 20.0
    # Growth of a daemon's resident memory, bytes.
    memory: int = 64 * MEBIBYTE

    def delay(self, calm):
        """The longest acceptable p99, ms."""
        return self.factor * calm + self.allowance


def percentile(values, share):
    """The value at this share of the way from the smallest to the largest; infinite when there are none.

    Of up to 100 values the p99 is at most the second largest: one that is late by accident decides nothing.
    """
    ordered = sorted(values)
    return ordered[math.floor(share * (len(ordered) - 1))] if ordered else math.inf


@dataclasses.dataclass
class Delays:
    """From the moment at which a commit was due to its acknowledgement, ms."""

    p50: float
    p99: float
    count: int

    @classmethod
    def of(cls, values):
        return cls(percentile(values, 0.5), percentile(values, 0.99), len(values))

    def __str__(self):
        return f"{self.p50:.1f}/{self.p99:.1f}"


@dataclasses.dataclass
class Outcome:
    """One attack, from the calm before it to the calm after it."""

    name: str
    calm: Delays
    during: Delays
    after: Delays
    # By daemon: resident bytes at most before, during and after.
    memory: dict
    # By daemon: the share of a core during the attack.
    load: dict
    # What went wrong for the victim and the daemons, apart from delays and memory.
    faults: list
    # What the stranger did.
    counts: dict
    cleaned: str = ""

    def growth(self):
        """By daemon: bytes beyond the calm, during and after the attack."""
        return {name: (during - calm, after - calm) for name, (calm, during, after) in self.memory.items()}

    def delay_faults(self, limits):
        bound = limits.delay(self.calm.p99)
        delays = {"during": self.during, "after": self.after}
        return [
            f"p99 {when} the attack is {delay.p99:.0f} ms, at most {bound:.0f} is acceptable"
            for when, delay in delays.items() if not delay.p99 <= bound
        ]

    def lasting_faults(self, limits):
        """Faults that a busy machine does not explain."""
        grown = [
            f"{name} grew by {max(growth) / MEBIBYTE:.0f} MiB"
            for name, growth in self.growth().items() if max(growth) > limits.memory
        ]
        return [*self.faults, *grown]

    def line(self, limits):
        """One line of the report, and a second one with the reasons of a failure."""
        faults = self.lasting_faults(limits) + self.delay_faults(limits)
        growth = " ".join(
            f"{short(name)}+{max(0, during) / MEBIBYTE:.0f}/{max(0, after) / MEBIBYTE:.0f}"
            for name, (during, after) in self.growth().items()
        )
        load = " ".join(f"{short(name)} {100 * share:.0f}" for name, share in self.load.items() if share >= 0.1)
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        lines = [
            f"{'FAILED' if faults else 'passed'}  {self.name:18} p50/p99 ms: calm {self.calm}, during {self.during},"
            f" after {self.after}; MiB during/after: {growth}; CPU %: {load or 'under 10'}{self.cleaned}",
            f"        stranger: {counts or 'nothing'}",
        ]
        return "\n".join(lines + [f"        reason: {fault}" for fault in faults])


def short(daemon):
    """A daemon's name for a table."""
    stage, _, number = daemon.partition("-")
    return {"gateway": f"g{number}", "coalescer": "co", "committer": "cm", "fanout": "fo", "monitor": "mo"}[stage]
