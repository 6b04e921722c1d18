internal import NIOConcurrencyHelpers
internal import TouchSyncClient
internal import TouchSyncClientCore

/// What became of the robots' edits.
package struct RobotCounts: Equatable, Sendable {
    /// Edits that were begun.
    package fileprivate(set) var made = 0
    /// Those that the server applied.
    package fileprivate(set) var applied = 0
    /// Those that it refused.
    package fileprivate(set) var refused = 0
    /// The code of the last refusal.
    package fileprivate(set) var lastRefusal: String?
}

/// Counts what becomes of the robots' edits.
final class RobotTally: Sendable {
    private let state = NIOLockedValueBox(RobotCounts())

    /// So far.
    var counts: RobotCounts { self.state.withLockedValue { $0 } }

    /// Counts an edit, and later its result.
    func follow(_ edit: SyncEdit) {
        self.state.withLockedValue { $0.made += 1 }
        Task {
            do {
                _ = try await edit.result
                self.state.withLockedValue { $0.applied += 1 }
            } catch let error as ClientError {
                self.state.withLockedValue { counts in
                    counts.refused += 1
                    counts.lastRefusal = error.code
                }
            } catch {}
        }
    }
}
