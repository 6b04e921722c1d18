import CommitterCore
import DatabaseTestKit
import FanoutCore
import Synchronization
import Wire

/// What the database has to say to a daemon.
enum DatabaseNews {
    case up(lane: Int)
    case down(lane: Int)
    /// To a committer.
    case loaded(Int, LoadedState)
    case written(Int, isStale: Bool)
    /// The request of a committer's lane was rolled back.
    case failed(Int)
    /// To a fan-out.
    case answer(UInt64, DatabaseReply)
}

/// One transaction on its way.
final class DatabaseTask {
    let isWrite: Bool
    /// What is said when it was rolled back.
    let failure: DatabaseNews
    let run: (inout DatabaseModel) -> DatabaseNews
    var isDone = false

    init(isWrite: Bool, failure: DatabaseNews, run: @escaping (inout DatabaseModel) -> DatabaseNews) {
        self.isWrite = isWrite
        self.failure = failure
        self.run = run
    }
}

/// A daemon's connection.
final class DatabaseConnection {
    let process: Process
    let lane: Int
    let life: Int
    var isUp = false
    /// Raised with every connect, so that an answer of an earlier one is recognised.
    var session = 0
    /// Transactions without an answer.
    var open: [DatabaseTask] = []

    init(of process: Process, lane: Int) {
        self.process = process
        self.lane = lane
        self.life = process.life
    }

    var isWanted: Bool { self.process.life == self.life && self.process.isAlive }
}

/// The database: its state, and what is wrong with it at present.
final class DatabaseServer {
    var model = DatabaseModel()
    /// When each session was claimed last.
    var claimedAt: [StreamKey: UInt64] = [:]
    var connections: [DatabaseConnection] = []
    var downUntil: UInt64 = 0
    var slowUntil: UInt64 = 0
    var troubleUntil: UInt64 = 0
    /// How sessions are named and recognised.
    let issuer = SessionNames().issuer
}

/// Sessions without secrets: the name is the secret.
private final class SessionNames: Sendable {
    private let issued = Atomic(0)

    var issuer: SessionIssuer {
        SessionIssuer(
            issue: { _, user in
                let number = self.issued.add(1, ordering: .relaxed).newValue
                let sid = Identifier("\(user.text)-\(number)")
                return (sid, sid.text)
            },
            verify: { secret, _, _ in Identifier(secret) })
    }
}
