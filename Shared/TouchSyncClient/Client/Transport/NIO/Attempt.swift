#if os(Linux)
    import NIOConcurrencyHelpers
    import NIOCore

    /// Something that a task waits for and that ends once: with a value, with an error, or with the task's cancellation.
    ///
    /// An attempt without success closes its channels.
    final class Attempt<Value: Sendable>: Sendable {
        private struct State {
            var continuation: CheckedContinuation<Value, any Error>?
            var channels: [any Channel] = []
            var timer: Scheduled<Void>?
            var failure: (any Error)?
            var isEnded = false
        }

        private let state = NIOLockedValueBox(State())

        /// Calls `begin`, unless the task is cancelled already, and waits for the end.
        func run(_ begin: () -> Void) async throws -> Value {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let failure = self.state.withLockedValue { state in
                        if !state.isEnded { state.continuation = continuation }
                        return state.failure
                    }
                    if let failure { continuation.resume(throwing: failure) } else { begin() }
                }
            } onCancel: {
                self.fail(CancellationError())
            }
        }

        /// Closes `channel` when the attempt fails; throws if it has ended.
        func adopt(_ channel: any Channel) throws {
            let isEnded = self.state.withLockedValue { state in
                if !state.isEnded { state.channels.append(channel) }
                return state.isEnded
            }
            if isEnded { throw CancellationError() }
        }

        /// Fails with `error` once `time` has passed.
        func expire(after time: Duration, on eventLoop: any EventLoop, _ error: any Error) {
            let timer = eventLoop.scheduleTask(in: TimeAmount(time)) { self.fail(error) }
            let isEnded = self.state.withLockedValue { state in
                if !state.isEnded { state.timer = timer }
                return state.isEnded
            }
            if isEnded { timer.cancel() }
        }

        /// Ends with `value`, unless it has ended.
        func succeed(_ value: Value) { self.end(.success(value))?.resume(returning: value) }

        /// Ends with `error`, unless it has ended.
        func fail(_ error: any Error) { self.end(.failure(error))?.resume(throwing: error) }

        private func end(_ result: Result<Value, any Error>) -> CheckedContinuation<Value, any Error>? {
            let former = self.state.withLockedValue { state in
                guard !state.isEnded else { return State() }
                defer {
                    state = State(isEnded: true)
                    if case .failure(let error) = result { state.failure = error }
                }
                return state
            }
            former.timer?.cancel()
            if case .failure = result { for channel in former.channels { channel.close(promise: nil) } }
            return former.continuation
        }
    }
#endif
