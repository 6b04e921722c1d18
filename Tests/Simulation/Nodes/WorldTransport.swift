import Mesh
import Stages
import Timing
import Trust
import Wire

/// A stage's connections to the database of its world.
protocol WorldDatabase<Request, News>: AnyObject {
    associatedtype Request
    associatedtype News

    /// What the stage hears of something that the database says; nil when that is nothing.
    func news(_ news: DatabaseNews) -> News?
    /// What the stage hears without having been told.
    func early() -> [News]
    func ask(_ request: Request) -> Bool
}

/// Of a stage that has none.
final class NoWorldDatabase: WorldDatabase {
    func news(_ news: DatabaseNews) -> Never? { nil }
    func early() -> [Never] { [] }
    func ask(_ request: Never) -> Bool {}
}

/// A stage's links and database in a world.
final class WorldTransport<Database: WorldDatabase>: StageTransport {
    typealias Request = Database.Request
    typealias News = Database.News

    private unowned let world: World
    private let process: Process
    private let instances: [Link]
    private let database: Database
    private let mistakes: WireMistakes
    /// What has come since the last turn.
    var inputs: [Input] = []
    private var isNew = true

    init(_ process: Process, to next: Stage?, _ database: Database, _ mistakes: WireMistakes, in world: World) {
        self.world = world
        self.process = process
        self.instances = next.map { world.links(of: process, to: $0) } ?? []
        self.database = database
        self.mistakes = mistakes
    }

    var time: Double { Double(self.world.now) / 1e6 }

    func readDatabase(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (News) -> Void) {
        for news in self.database.early() { act(news) }
        for case .database(let said) in self.inputs {
            if let news = self.database.news(said) { act(news) }
        }
    }

    func ask(_ request: Request, at now: Instant) -> Bool { self.database.ask(request) }

    func readLinks(_ act: (StageLinks.Event) -> Void) {
        if exchange(&self.isNew, with: false) {
            for link in self.instances where link.isListed { act(.added(link.index, name: link.server.name)) }
        }
        for input in self.inputs { if let event = input.event?.event { act(event) } }
    }

    func readPeers(envelopes limit: Int, _ act: (PeerEvent) -> Void) -> Bool {
        for input in self.inputs {
            switch input {
            case .peerUp(let peer):
                self.mistakes.peerUp(peer, isGateway: self.world.links[peer.link].dialler.stage == .gateway)
                act(.up(peer, name: self.world.name(of: peer)))
            case .peerDown(let peer):
                self.mistakes.peerDown(peer)
                act(.down(peer))
            case .peerWritable(let peer): act(.writable(peer))
            case .peerMessage(let peer, let bytes):
                let read = self.mistakes.incoming(bytes)
                read.withUnsafeBytes { act(.envelope(peer, .all, $0)) }
            case .added, .removed, .up, .down, .resting, .message, .writable, .database, .app: break
            }
        }
        return false
    }

    func rest(_ isResting: Bool) { self.world.rest(self.process, isResting) }

    func send(_ envelope: EnvelopeWriter, to peer: PeerID) -> SendResult {
        self.world.send(self.mistakes.outgoing(envelope, to: peer), to: peer)
    }

    func send(_ envelope: EnvelopeWriter, on instance: Int) -> SendResult {
        self.world.send(envelope.bytes, on: self.instances[instance])
    }

    /// A world's daemons do not drain; they die.
    func closeIntake() {}

    func poll() -> Instant? { nil }
}
