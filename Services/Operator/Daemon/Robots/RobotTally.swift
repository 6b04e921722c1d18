internal import NIOConcurrencyHelpers
internal import TouchSyncClient
internal import TouchSyncClientCore

/// What became of the robots' edits.
struct RobotCounts: Equatable, Sendable {
    /// Edits that were begun.
    fileprivate(set) var made = 0
    fileprivate(set) var applied = 0
    fileprivate(set) var refused = 0
    /// The code of the last refusal.
    fileprivate(set) var lastRefusal: String?
    /// How many robots came into the room.
    fileprivate(set) var joined = 0
    fileprivate(set) var working: Int
    /// Why one of them could not work.
    fileprivate(set) var failure: String?
}

/// Counts what becomes of the robots' edits.
final class RobotTally: Sendable {
    private let state: NIOLockedValueBox<RobotCounts>

    init(working: Int) {
        self.state = NIOLockedValueBox(RobotCounts(working: working))
    }

    var counts: RobotCounts { self.state.withLockedValue { $0 } }

    func robotJoined() { self.state.withLockedValue { $0.joined += 1 } }

    func robotFailed(_ error: any Error) { self.state.withLockedValue { $0.failure = "\(error)" } }

    func robotLeft() { self.state.withLockedValue { $0.working -= 1 } }

    /// Waits until all edits have their results, but not longer than that.
    func allSettled(within patience: Duration) async {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            let counts = self.counts
            if counts.applied + counts.refused >= counts.made { return }
            // Its own task was cancelled: it sleeps in another one.
            await Task { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
    }

    /// Counts an edit, and later its result.
    func follow(_ edit: SyncEdit) {
        self.state.withLockedValue { $0.made += 1 }
        Task {
            do {
                _ = try await edit.result
                self.state.withLockedValue { $0.applied += 1 }
            } catch let error as ClientError where error.code != .closed {
                self.state.withLockedValue { counts in
                    counts.refused += 1
                    counts.lastRefusal = error.code.rawValue
                }
            } catch {}
        }
    }
}
