internal import OperatorTerminal

/// Which daemons the start waits for, until all are ready.
final class StartProgress {
    private let line: ProgressLine
    private var isOver = false

    init(_ line: ProgressLine) {
        self.line = line
    }

    /// A daemon has another state.
    func changed(_ statuses: [Supervisor.Status]) {
        let missing = statuses.filter { !$0.isReady }.map(\.name)
        guard !self.isOver, !missing.isEmpty else { return }
        self.line.set("waiting for \(missing.joined(separator: ", "))")
    }

    /// All are ready, or the start has failed.
    func end() {
        self.isOver = true
        self.line.clear()
    }
}
