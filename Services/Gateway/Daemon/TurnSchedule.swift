import NIOCore

/// When the event loop handles what apps and the mesh brought: at its next opportunity, once for all that came.
final class TurnSchedule {
    private let eventLoop: any EventLoop
    private var isScheduled = false
    /// Since when.
    private var scheduledAt = NIODeadline.distantPast
    private var isRunning = false
    /// A turn that is due for longer than this does not wait until all apps that have sent something are read.
    private static let patience = TimeAmount.milliseconds(1)

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Runs `turn` as soon as a turn may run, unless one is due anyway.
    func schedule(_ turn: @escaping () -> Void) {
        guard !self.isScheduled else { return }
        self.isScheduled = true
        self.scheduledAt = self.eventLoop.now
        self.eventLoop.assumeIsolated().execute {
            self.isScheduled = false
            self.run(turn)
        }
    }

    /// Runs `turn` between two reads if one is overdue; the one that was scheduled comes all the same.
    func runIfOverdue(at now: NIODeadline, _ turn: () -> Void) {
        guard self.isScheduled, !self.isRunning, now > self.scheduledAt + Self.patience else { return }
        self.scheduledAt = now
        self.run(turn)
    }

    private func run(_ turn: () -> Void) {
        self.isRunning = true
        turn()
        self.isRunning = false
    }
}
