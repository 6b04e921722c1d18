import GatewayCore
import NIOCore
import Timing

/// When the event loop handles what apps and the mesh brought: at its next opportunity, or after the pause that
/// ``TurnPause`` asks for while very many commits come. Everything that comes during a pause waits for one turn; the loop
/// itself goes on reading, and its timers run.
final class TurnSchedule {
    private let eventLoop: any EventLoop
    private var pause: TurnPause
    /// When the next turn may run.
    private var earliest = NIODeadline.distantPast
    private var isScheduled = false
    /// Since when.
    private var scheduledAt = NIODeadline.distantPast
    private var isRunning = false
    /// A turn that is due for longer than this does not wait until all apps that have sent something are read.
    private static let patience = TimeAmount.milliseconds(1)
    /// Commits that had been accepted when the last turn ended.
    private var commits: UInt64 = 0

    init(eventLoop: any EventLoop, pause: TurnPause) {
        self.eventLoop = eventLoop
        self.pause = pause
    }

    /// Whether a turn would have to wait.
    var isPausing: Bool { self.earliest > self.eventLoop.now }

    /// Runs `turn` as soon as a turn may run, unless one is due anyway.
    func schedule(_ turn: @escaping () -> Void) {
        guard !self.isScheduled else { return }
        self.isScheduled = true
        self.scheduledAt = self.eventLoop.now
        let run = {
            self.isScheduled = false
            self.run(turn)
        }
        if self.isPausing {
            self.eventLoop.assumeIsolated().scheduleTask(deadline: self.earliest, run)
        } else {
            self.eventLoop.assumeIsolated().execute(run)
        }
    }

    /// Runs `turn` between two reads if one is overdue; the one that was scheduled comes all the same.
    func runIfOverdue(at now: NIODeadline, _ turn: () -> Void) {
        guard self.isScheduled, !self.isRunning else { return }
        guard now > self.scheduledAt + Self.patience, now >= self.earliest else { return }
        self.scheduledAt = now
        self.run(turn)
    }

    private func run(_ turn: () -> Void) {
        self.isRunning = true
        turn()
        self.isRunning = false
    }

    /// A turn has ended. Only commits pause the next one: it would cost previews their age, and saves no CPU with them.
    /// - Parameter commits: how many were accepted in all turns so far.
    func turnEnded(commits: UInt64) {
        guard exchange(&self.commits, with: commits) != commits else { return }
        let now = self.eventLoop.now
        let length = self.pause.turnEnded(at: Instant(now))
        if length > .zero { self.earliest = now + .nanoseconds(Int64(length.count)) }
    }
}
