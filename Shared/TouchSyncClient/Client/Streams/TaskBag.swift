/// Tasks that are cancelled when their owner goes away.
final class TaskBag: Sendable {
    private struct State: Sendable {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isOver = false
    }

    private let state = Locked(State())

    deinit { self.cancelAll() }

    /// Starts a task, unless all were cancelled.
    func start(_ work: @escaping @Sendable () async -> Void) {
        self.state.withLock { state in
            if state.isOver { return }
            state.lastNumber += 1
            let number = state.lastNumber
            state.tasks[number] = Task { [weak self] in
                await work()
                self?.forget(number)
            }
        }
    }

    /// Cancels those that run; no other one starts.
    func cancelAll() {
        let tasks = self.state.withLock { state -> [Task<Void, Never>] in
            state.isOver = true
            defer { state.tasks = [:] }
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    private func forget(_ number: Int) {
        self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
    }
}
