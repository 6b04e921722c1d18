import Mesh
import Stages
import Timing

/// What a daemon's thread finds when it wakes.
enum Input {
    /// The daemon at the bound end of a link is in its stage's set from now on, or not any more.
    case added(Link)
    case removed(Link)
    /// A dialled link is up, down, or brought an envelope.
    case up(Link)
    case down(Link)
    /// Whether the daemon at its bound end rests has changed.
    case resting(Link)
    case message(Link, [UInt8])
    /// It accepts envelopes again.
    case writable(Link)
    /// The same at the bound end.
    case peerUp(PeerID)
    case peerDown(PeerID)
    case peerMessage(PeerID, [UInt8])
    case peerWritable(PeerID)
    /// The database has something to say.
    case database(DatabaseNews)
    /// An app has.
    case app(AppConnection, AppNews)

    /// True for what a daemon that stood still for too long throws away with its links.
    var isOfLink: Bool {
        switch self {
        case .message, .peerMessage: true
        case .added, .removed, .up, .down, .resting, .writable, .peerUp, .peerDown, .peerWritable, .database, .app:
            false
        }
    }
}

/// A daemon's shell: the thin part around its core, as the real one is, over the world's links and database.
protocol Shell: AnyObject {
    /// Does what there is to do.
    /// - Returns: when it wants to wake even if nothing comes.
    func turn(_ inputs: [Input], at now: Instant) -> Instant?
    /// Adds what its core counted to the world's counts; called when it ends.
    func count(into counts: inout [String: Int64])
}

/// One daemon: a shell while it lives, and what waits for it.
final class Process {
    enum State {
        case running
        case paused(since: UInt64)
        case dead
    }

    let instance: StageInstance
    let name: String
    var state = State.dead
    /// Whether it is in its stage's set.
    var isListed: Bool
    /// Raised by every start and every end, so that what was meant for an earlier life is recognised.
    var life = 0
    /// True while it asks to be spared; see ``World/rest(_:_:)``.
    var isResting = false
    /// What it answers with when it is greeted.
    var greeting: [UInt8] = []
    var shell: (any Shell)?
    var inbox: [Input] = []
    /// When the next turn is due; nil: not before something comes.
    var wakeAt: UInt64?

    init(_ instance: StageInstance, isListed: Bool) {
        self.instance = instance
        self.isListed = isListed
        self.name = "\(instance.stage)-\(instance.number + 1)"
    }

    var stage: Stage { self.instance.stage }

    var isRunning: Bool { if case .running = self.state { true } else { false } }
    var isAlive: Bool { if case .dead = self.state { false } else { true } }
}
