internal import NIOCore
internal import SocketIO

/// Something with a deadline on the server's wheel.
protocol Timed: AnyObject {
    /// The tick it is inserted for; 0 if none.
    var armedTick: UInt64 { get set }
    /// The tick came. What is due may have moved: look, act, arm again.
    func timerFired(at now: UInt64)
}

extension SocketIOServer {
    /// Sees to it that `timed` is called at `deadline` (nanoseconds) or earlier.
    func arm(_ timed: any Timed, at deadline: UInt64) {
        guard deadline < .max else { return }
        let tick = max(1, self.wheel.tick(for: deadline))
        if timed.armedTick != 0, timed.armedTick <= tick { return }
        timed.armedTick = tick
        self.wheel.insert(timed, tick: tick)
        self.scheduleWheel(at: deadline)
    }

    private func scheduleWheel(at time: UInt64) {
        if let wheelTask = self.wheelTask {
            guard time < wheelTask.time else { return }
            wheelTask.task.cancel()
        }
        // Rounded up to the end of the tick, when the wheel hands it out.
        let resolution: UInt64 = 10_000_000
        let rounded = (time / resolution + 1) * resolution
        let task = self.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(rounded)) { self.turnWheel() }
        self.wheelTask = (rounded, task)
    }

    private func turnWheel() {
        self.wheelTask = nil
        let now = self.now
        var due: [(token: any Timed, tick: UInt64)] = []
        swap(&due, &self.dueTimers)
        self.wheel.advance(to: now, &due)
        for (token, tick) in due where token.armedTick == tick {
            token.armedTick = 0
            token.timerFired(at: now)
        }
        due.removeAll(keepingCapacity: true)
        swap(&due, &self.dueTimers)
        self.flush()
        if let next = self.wheel.nextTime { self.scheduleWheel(at: next) }
    }
}
