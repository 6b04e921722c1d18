/// Tells values to everyone who listens. Who is slow gets the latest of them.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
        var lastNumber = 0
        var isOver = false
    }

    private let state = Locked(State())

    /// A stream of the values that are told from now on, of which at most 64 wait.
    func listen() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(64))
        let number = self.state.withLock { state -> Int? in
            if state.isOver { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = continuation
            return state.lastNumber
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    func tell(_ value: Value) {
        for listener in self.state.withLock({ Array($0.listeners.values) }) { listener.yield(value) }
    }

    func finish() {
        let listeners = self.state.withLock { state -> [AsyncStream<Value>.Continuation] in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    private func forget(_ number: Int) {
        self.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
}
