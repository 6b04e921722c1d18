import Stages
import Timing
import Wire

/// A daemon of a world behind the gateways: the same shell and core as the real one, over the world's network and database.
final class StageNode<Core: StageCore, Database: WorldDatabase>: Shell
where Database.Request == Core.Request, Database.News == Core.News {
    private unowned let world: World
    private let shell: StageShell<Core, WorldTransport<Database>>
    private let mistakes: WireMistakes
    private let counts: (Core) -> [String: Int]

    /// - Parameters:
    ///   - next: the stage that it dials.
    ///   - counts: what a core has counted.
    init(
        _ core: Core, _ process: Process, to next: Stage? = nil, _ database: Database, _ mistakes: WireMistakes,
        in world: World, counts: @escaping (Core) -> [String: Int]
    ) {
        self.world = world
        self.shell = StageShell(
            core, over: WorldTransport(process, to: next, database, mistakes, in: world), intake: world.intake)
        self.mistakes = mistakes
        self.counts = counts
    }

    var core: Core { self.shell.core }

    func turn(_ inputs: [Input], at now: Instant) -> Instant? {
        self.mistakes.turnBegins()
        self.shell.transport.inputs = inputs
        let deadline = self.shell.turn(at: now)
        self.shell.transport.inputs = []
        for (preview, peer) in self.mistakes.takeLast() { _ = self.world.send(preview.bytes, to: peer) }
        return self.mistakes.isLate ? min(deadline ?? .never, now + .milliseconds(20)) : deadline
    }

    func count(into counts: inout [String: Int64]) {
        for (name, value) in self.counts(self.shell.core) { counts[name, default: 0] += Int64(value) }
    }
}
