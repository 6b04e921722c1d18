import NIOConcurrencyHelpers

/// Values in their order, for who takes them one by one.
final class Waitlist<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var taker: CheckedContinuation<Value, any Error>?
        var observers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = NIOLockedValueBox(State())

    /// Values that nobody took.
    var waiting: [Value] { self.state.withLockedValue { $0.values } }

    func append(_ value: Value) {
        let taker = self.state.withLockedValue { state -> CheckedContinuation<Value, any Error>? in
            if state.taker == nil { state.values.append(value) }
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: value)
    }

    /// The next value; one taker at a time.
    func next() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { self.take($0) }
        } onCancel: {
            self.state.withLockedValue { $0.taker.take() }?.resume(throwing: CancellationError())
        }
    }

    private func take(_ taker: CheckedContinuation<Value, any Error>) {
        let isCancelled = Task.isCancelled
        let (value, observers) = self.state.withLockedValue { state in
            if !state.values.isEmpty { return (Optional(state.values.removeFirst()), state.observers.prefix(0)) }
            if !isCancelled { state.taker = taker }
            defer { state.observers = [] }
            return (nil, state.observers[...])
        }
        for observer in observers { observer.resume() }
        if let value { taker.resume(returning: value) } else if isCancelled { taker.resume(throwing: CancellationError()) }
    }

    /// Waits until somebody waits for the next value, having taken all.
    func isAwaited() async throws {
        await withCheckedContinuation { continuation in
            let isAwaited = self.state.withLockedValue { state in
                if state.taker == nil { state.observers.append(continuation) }
                return state.taker != nil
            }
            if isAwaited { continuation.resume() }
        }
    }
}
