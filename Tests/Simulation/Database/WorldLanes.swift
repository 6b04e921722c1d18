import CommitterCore
import CommitterDaemon
import DatabaseTestKit
import Wire

/// A committer's lanes.
final class WorldLanes: WorldDatabase {
    static let count = 2

    private unowned let world: World
    private let connections: [DatabaseConnection]
    private let mistakes: WireMistakes
    /// The history that the committer's knowledge is of.
    private var epoch: Identifier?
    /// For the mutant that does not wait: what it takes for written.
    private var written: [CommitterStage.News] = []

    init(of process: Process, _ mistakes: WireMistakes, in world: World) {
        self.world = world
        self.mistakes = mistakes
        self.connections = (0..<Self.count).map { DatabaseConnection(of: process, lane: $0) }
        for connection in self.connections { world.connect(connection) }
    }

    private var mutant: Mutant? { self.world.plan.mutant }

    /// What is wrong with the database, in a world with such a mutant.
    private var mistake: DatabaseModel.Mistake? {
        switch self.mutant {
        case .blindWrites: .blindWrites
        case .cascadeOff: .cascadeOff
        case .foreignStacks: .foreignStacks
        default: nil
        }
    }

    func news(_ news: DatabaseNews) -> CommitterStage.News? {
        switch news {
        case .up(let lane):
            let epoch = self.world.database.model.epoch
            let former = exchange(&self.epoch, with: epoch)
            return .up(lane: lane, isNewHistory: former.map { $0 != epoch } ?? false)
        case .down(let lane): return .down(lane: lane)
        case .loaded(let lane, var state):
            if self.mutant == .dedupOff { self.forgetNumbers(in: &state) }
            return .loaded(lane: lane, state)
        case .written(let lane, let isStale):
            return self.mutant == .ackBeforeCommit ? nil : .written(lane: lane, isStale: isStale)
        case .failed(let lane): return .failed(lane: lane, .transient)
        case .answer: return nil
        }
    }

    func early() -> [CommitterStage.News] { exchange(&self.written, with: []) }

    func ask(_ request: CommitterStage.Request) -> Bool {
        let mistake = self.mistake
        switch request {
        case .load(let lane, let load):
            return self.submit(lane, isWrite: false) { .loaded(lane, $0.load(load, mistake)) }
        case .write(let lane, let batch):
            if mutant == .ackBeforeCommit {
                self.written.append(.written(lane: lane, isStale: false))
                self.world.wake(self.connections[lane].process, at: self.world.now + 1000)
            }
            return self.submit(lane, isWrite: true) { .written(lane, isStale: $0.write(batch, mistake) != .written) }
        }
    }

    private func submit(
        _ lane: Int, isWrite: Bool, _ run: @escaping (inout DatabaseModel) -> DatabaseNews
    ) -> Bool {
        self.world.submit(
            DatabaseTask(isWrite: isWrite, failure: .failed(lane), run: run), on: self.connections[lane])
    }

    /// The mutant without dedup: whatever number came last is the next one.
    private func forgetNumbers(in state: inout LoadedState) {
        for (key, stream) in state.streams {
            guard let last = self.mistakes.lastNumbers[key], last <= stream.highest else { continue }
            state.streams[key]?.highest = last - 1
        }
    }
}
