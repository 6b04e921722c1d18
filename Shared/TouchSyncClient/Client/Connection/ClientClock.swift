/// The time as the core sees it: ms since the client was made. It goes on while the device sleeps.
package struct ClientClock: Sendable {
    private let readTime: @Sendable () -> Double
    private let wait: @Sendable (_ until: Double) async throws -> Void
    private let start: ContinuousClock.Instant

    package init() {
        let start = ContinuousClock.now
        self.start = start
        self.readTime = { (ContinuousClock.now - start) / .milliseconds(1) }
        self.wait = { try await ContinuousClock().sleep(until: start + .milliseconds(1) * $0) }
    }

    /// A clock for tests.
    /// - Parameter wait: returns when the time is reached, ms.
    package init(
        now: @escaping @Sendable () -> Double, wait: @escaping @Sendable (_ until: Double) async throws -> Void
    ) {
        self.start = ContinuousClock.now
        self.readTime = now
        self.wait = wait
    }

    package var now: Double { self.readTime() }

    /// A moment in ms; nil: the present time.
    func milliseconds(at instant: ContinuousClock.Instant?) -> Double {
        instant.map { ($0 - self.start) / .milliseconds(1) } ?? self.now
    }

    func sleep(until time: Double) async throws { try await self.wait(time) }
}

/// Wakes the client at its deadline.
///
/// Deadlines move on with each message, so a wake that is too early is let happen: the client then says the next one.
struct ClientTimer: Sendable {
    private var task: Task<Void, Never>?
    private var wakesAt: Int64?

    /// Wakes at this time or earlier.
    mutating func set(_ deadline: Int64, _ clock: ClientClock, wake: @escaping @Sendable () async -> Void) {
        if let wakesAt, wakesAt <= deadline { return }
        self.task?.cancel()
        self.wakesAt = deadline
        self.task = Task {
            guard (try? await clock.sleep(until: Double(deadline))) != nil, !Task.isCancelled else { return }
            await wake()
        }
    }

    mutating func woke() {
        self.wakesAt = nil
    }

    func stop() { self.task?.cancel() }
}
