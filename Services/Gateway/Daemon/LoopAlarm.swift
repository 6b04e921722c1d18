import NIOCore
import Timing

/// One timer of the event loop: it rings at the earliest of the deadlines that were set since it rang last.
final class LoopAlarm {
    private let eventLoop: any EventLoop
    private var scheduled: Scheduled<Void>?
    private var dueAt = Instant.never
    var ring: () -> Void = {}

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Sees to it that it rings at a deadline, if there is one.
    /// - Parameter breath: it does not ring sooner than that from now on, however long the deadline is past.
    func set(_ deadline: Instant?, breath: Nanoseconds = .zero) {
        guard let deadline, deadline < self.dueAt else { return }
        self.scheduled?.cancel()
        self.dueAt = deadline
        var moment = NIODeadline.uptimeNanoseconds(deadline.nanoseconds)
        if breath > .zero { moment = max(moment, .now() + .nanoseconds(Int64(breath.count))) }
        self.scheduled = self.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [weak self] in
            guard let self else { return }
            self.dueAt = .never
            self.ring()
        }
    }
}

extension Instant {
    /// The moment of an event loop's clock.
    init(_ moment: NIODeadline) { self.init(nanoseconds: moment.uptimeNanoseconds) }
}
