/// A value that is known later, or never because of an error.
final class Promise<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Tells everyone who waits; what is told later is ignored.
    func settle(_ result: Result<Value, any Error>) {
        let waiting = self.state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            if state.result != nil { return [] }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// The value. Cancelling the task ends the waiting, and nothing else.
    var value: Value {
        get async throws {
            let number = self.state.withLock { state -> Int in
                state.lastNumber += 1
                return state.lastNumber
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { self.wait($0, number) }
            } onCancel: {
                self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
            }
        }
    }

    private func wait(_ continuation: CheckedContinuation<Value, any Error>, _ number: Int) {
        let isCancelled = Task.isCancelled
        let result = self.state.withLock { state -> Result<Value, any Error>? in
            if let result = state.result { return result }
            if isCancelled { return .failure(CancellationError()) }
            state.waiting[number] = continuation
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
