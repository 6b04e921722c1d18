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
    private let tally: RobotTally
    private let tasks: [Task<Void, Never>]

    /// Robots that begin immediately.
    /// - Throws: `ClientSetupError` for an address that is none.
    init(_ options: RobotOptions) throws {
        let count = max(1, options.count)
        let tally = RobotTally(working: count)
        let robots = try (1...count).map { try Robot($0, options, tally: tally) }
        self.tally = tally
        self.tasks = robots.map { robot in
            Task {
                var robot = robot
                do { try await robot.work() } catch is CancellationError {} catch {
                    tally.robotFailed(error)
                }
                tally.robotLeft()
            }
        }
    }

    var counts: RobotCounts { self.tally.counts }

    /// They end what they do, and go.
    func stop() { for task in self.tasks { task.cancel() } }
}
