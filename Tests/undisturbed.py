"""A clock that stands while a busy machine lets nobody run: bounds on how long something takes are held against it."""

import threading
import time


class UndisturbedClock(threading.Thread):
    """A witness that sleeps a few milliseconds over and over; what a sleep takes longer than that is the machine's."""

    PAUSE = 0.005

    def __init__(self):
        super().__init__(daemon=True)
        self.delays = self.last = 0.0
        self.start()

    def run(self):
        while True:
            asleep = time.monotonic()
            time.sleep(self.PAUSE)
            self.delays += max(0.0, time.monotonic() - asleep - self.PAUSE)

    def __call__(self):
        """Seconds from some fixed point; it never goes back."""
        self.last = max(self.last, time.monotonic() - self.delays)
        return self.last


undisturbed = UndisturbedClock()
