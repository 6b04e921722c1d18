import NIOConcurrencyHelpers
import TouchSyncClientCore

/// Asks the test for tokens.
final class TokenDesk: Sendable {
    private let waiting = NIOLockedValueBox<[CheckedContinuation<String?, Never>]>([])

    func ask(_ reason: TokenReason) async -> String? {
        await withCheckedContinuation { continuation in
            self.waiting.withLockedValue { $0.append(continuation) }
            Report.event("token", reason.rawValue)
        }
    }

    /// For who asked first.
    func answer(_ token: String?) {
        self.waiting.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }?.resume(returning: token)
    }
}
