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
