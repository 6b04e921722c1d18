"""Memory and CPU of the daemons, sampled while they run."""

import threading
import time

import pipeline

EVERY = 0.1


class Watch:
    """Samples of (moment, {name: resident bytes}, {name: CPU seconds}) by the monotonic clock."""

    def __init__(self, pids):
        self.pids = pids
        self.samples = []
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_stopping.wait(EVERY):
            resident = {name: pipeline.resident(pid) for name, pid in self.pids.items()}
            busy = {name: pipeline.busy_seconds(pid) for name, pid in self.pids.items()}
            self.samples.append((time.monotonic(), resident, busy))

    def stop(self):
        self.is_stopping.set()
        self.thread.join()

    def _between(self, start, end):
        return [sample for sample in self.samples if start <= sample[0] <= end]

    def peak(self, start, end):
        """The most that each daemon had resident, bytes."""
        samples = self._between(start, end)
        return {name: max((resident[name] for _, resident, _ in samples), default=0) for name in self.pids}

    def load(self, start, end):
        """The share of a core that each daemon used, 0 to 1."""
        samples = self._between(start, end)
        if len(samples) < 2:
            return dict.fromkeys(self.pids, 0.0)
        (first, _, before), (last, _, after) = samples[0], samples[-1]
        return {name: (after[name] - before[name]) / (last - first) for name in self.pids}
