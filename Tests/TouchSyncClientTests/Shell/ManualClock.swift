import NIOConcurrencyHelpers
import TouchSyncClient

/// A time that only a test moves.
final class ManualClock: Sendable {
    private struct Sleeper {
        let until: Double
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = 0.0
        var sleepers: [Int: Sleeper] = [:]
        var lastNumber = 0
    }

    private let state = NIOLockedValueBox(State())

    var clock: ClientClock {
        ClientClock {
            self.state.withLockedValue { $0.now }
        } wait: {
            try await self.sleep(until: $0)
        }
    }

    /// Whether nothing waits for a time.
    var isUnused: Bool { self.state.withLockedValue { $0.sleepers.isEmpty } }

    func advance(by milliseconds: Double) {
        let due = self.state.withLockedValue { state in
            state.now += milliseconds
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private func sleep(until time: Double) async throws {
        let number = self.state.withLockedValue { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { self.wait($0, until: time, number) }
        } onCancel: {
            let sleeper = self.state.withLockedValue { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func wait(_ continuation: CheckedContinuation<Void, any Error>, until time: Double, _ number: Int) {
        let isCancelled = Task.isCancelled
        let isOver = self.state.withLockedValue { state in
            if isCancelled || state.now >= time { return true }
            state.sleepers[number] = Sleeper(until: time, continuation: continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) } else if isOver { continuation.resume() }
    }
}

/// Waits for a condition that others make true; the time limit of a suite ends it.
///
/// It asks every millisecond, because the conditions have no event in common: they are states of actors and models, objects
/// that must be released, and some move the time themselves, as often as the client needs it.
func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
}
