import CommitterCore
import DatabaseTestKit
import FanoutCore
import FanoutDaemon
import Wire

/// A fan-out's connection.
final class WorldQuestions: WorldDatabase {
    private unowned let world: World
    private let connection: DatabaseConnection
    private let mistakes: WireMistakes
    /// For the mutant that never asks for heads: the shards of the rooms that are read.
    private var loads: [UInt64: Int] = [:]

    init(of process: Process, _ mistakes: WireMistakes, in world: World) {
        self.world = world
        self.mistakes = mistakes
        self.connection = DatabaseConnection(of: process, lane: 0)
        world.connect(self.connection)
    }

    func news(_ news: DatabaseNews) -> FanoutStage.News? {
        switch news {
        case .up: .reached(epoch: self.world.database.model.epoch, issuer: self.world.database.issuer)
        case .answer(let tag, let reply): .answer(tag, self.mistaken(reply, to: tag))
        case .down, .loaded, .written, .failed: nil
        }
    }

    func early() -> [FanoutStage.News] { [] }

    func ask(_ request: DatabaseRequest) -> Bool {
        if case .room(let room) = request.query { self.loads[request.tag] = Shard.of(room: room) }
        let task = DatabaseTask(isWrite: false, failure: .answer(request.tag, .failed)) { [unowned world] model in
            let reply = model.answer(request.query)
            if case .claim(let room, let sid, _) = request.query, case .claim(.granted) = reply {
                world.database.claimedAt[StreamKey(room, sid)] = world.now
            }
            return .answer(request.tag, reply)
        }
        return self.world.submit(task, on: self.connection)
    }

    /// The mutants that read less than there is: the one that never asks for heads knows what it was sent, and what it read
    /// for other reasons.
    private func mistaken(_ reply: DatabaseReply, to tag: UInt64) -> DatabaseReply {
        if self.world.plan.mutant == .gesturesForgotten, case .room(var room) = reply {
            room.closed = []
            return .room(room)
        }
        guard self.world.plan.mutant == .naivePolling else { return reply }
        switch reply {
        case .heads(let heads):
            return .heads(
                ShardHeads(epoch: heads.epoch, marks: self.mistakes.seenHeads.map { ShardCursor.Mark($0) }))
        case .room(let room):
            if let shard = self.loads.removeValue(forKey: tag) { self.mistakes.saw(room.gseq, in: shard) }
        case .log(let rows): for row in rows { self.mistakes.saw(row.gseq, in: Int(row.shard)) }
        case .history, .claim, .epoch, .failed: break
        }
        return reply
    }
}
