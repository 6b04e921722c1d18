import NIOConcurrencyHelpers

/// Values in their order, for who takes them one by one.
final class Waitlist<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var taker: CheckedContinuation<Value, any Error>?
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
        let value = self.state.withLockedValue { state -> Value? in
            if !state.values.isEmpty { return state.values.removeFirst() }
            if !isCancelled { state.taker = taker }
            return nil
        }
        if let value {
            taker.resume(returning: value)
        } else if isCancelled {
            taker.resume(throwing: CancellationError())
        }
    }

    /// Whether somebody waits for the next value, having taken all.
    var isAwaited: Bool { self.state.withLockedValue { $0.taker != nil } }
}
