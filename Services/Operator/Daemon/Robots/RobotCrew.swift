internal import NIOConcurrencyHelpers
internal import TouchSyncClient

struct RobotOptions: Sendable {
    var url: String
    var room: String
    var count: Int
    /// The room's elements from which on robots add none.
    var notes: Int
    /// One for all robots; nil for servers without tokens.
    var token: String?
    var seed: UInt64
}

/// Robots at work in one room.
final class RobotCrew: Sendable {
    private struct State {
        var working: Int
        var failure: String?
    }

    private let tally = RobotTally()
    private let state: NIOLockedValueBox<State>
    private let tasks: [Task<Void, Never>]

    /// Robots that begin immediately.
    /// - Throws: `ClientSetupError` for an address that is none.
    init(_ options: RobotOptions) throws {
        let tally = self.tally
        let robots = try (1...max(1, options.count)).map { try Robot($0, options, tally: tally) }
        let state = NIOLockedValueBox(State(working: robots.count))
        self.state = state
        self.tasks = robots.map { robot in
            Task {
                var robot = robot
                do { try await robot.work() } catch is CancellationError {} catch {
                    state.withLockedValue { $0.failure = "\(error)" }
                }
                state.withLockedValue { $0.working -= 1 }
            }
        }
    }

    var counts: RobotCounts { self.tally.counts }

    var working: Int { self.state.withLockedValue { $0.working } }

    /// Why one of them could not work.
    var failure: String? { self.state.withLockedValue { $0.failure } }

    /// They end what they do, and go.
    func stop() { for task in self.tasks { task.cancel() } }
}
