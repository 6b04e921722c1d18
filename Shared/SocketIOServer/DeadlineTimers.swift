internal import NIOCore
internal import SocketIO

protocol Timed: AnyObject {
    /// The tick of the wheel it is inserted for; 0 if none. Only ``DeadlineTimers`` sets it.
    var armedTick: UInt64 { get set }
    /// Nanoseconds; `.max` for none. After a change to an earlier time call ``DeadlineTimers/arm(_:)``.
    var deadline: UInt64 { get }
    func deadlineReached(at now: UInt64)
}

/// The deadlines of all connections of a loop, in one wheel with one scheduled task.
///
/// Moving a deadline to a later time costs nothing: at its tick it is not due and is inserted again.
final class DeadlineTimers {
    private let eventLoop: any EventLoop
    private let flushes: FlushQueue
    private var wheel = TimerWheel<any Timed>(now: NIODeadline.now().uptimeNanoseconds, resolution: resolution)
    private var due: [(token: any Timed, tick: UInt64)] = []
    private var task: (time: UInt64, scheduled: Scheduled<Void>)?
    /// Nanoseconds.
    private static let resolution: UInt64 = 10_000_000

    init(_ eventLoop: any EventLoop, _ flushes: FlushQueue) {
        self.eventLoop = eventLoop
        self.flushes = flushes
    }

    /// Ensures that `timed` is called once its deadline has passed.
    func arm(_ timed: any Timed) {
        let deadline = timed.deadline
        guard deadline < .max else { return }
        let tick = max(1, self.wheel.tick(for: deadline))
        if timed.armedTick != 0, timed.armedTick <= tick { return }
        timed.armedTick = tick
        self.wheel.insert(timed, tick: tick)
        self.schedule(at: deadline)
    }

    func cancel() {
        self.task?.scheduled.cancel()
        self.task = nil
    }

    private func schedule(at time: UInt64) {
        if let task = self.task {
            guard time < task.time else { return }
            task.scheduled.cancel()
        }
        // Rounded up to the end of the tick, when the wheel hands it out.
        let rounded = (time / Self.resolution + 1) * Self.resolution
        let scheduled = self.eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(rounded)) {
            self.ticked()
        }
        self.task = (rounded, scheduled)
    }

    private func ticked() {
        self.task = nil
        let now = NIODeadline.now().uptimeNanoseconds
        var due: [(token: any Timed, tick: UInt64)] = []
        swap(&due, &self.due)
        self.wheel.advance(to: now, &due)
        for (timed, tick) in due where timed.armedTick == tick {
            timed.armedTick = 0
            if now >= timed.deadline { timed.deadlineReached(at: now) } else { self.arm(timed) }
        }
        due.removeAll(keepingCapacity: true)
        swap(&due, &self.due)
        self.flushes.flush()
        if let next = self.wheel.nextTime { self.schedule(at: next) }
    }
}
