import Stages

extension Input {
    /// What it is for the daemon that dials a link, and the stage at the other end; nil for everything else.
    var event: (event: StageLinks.Event, stage: Stage)? {
        switch self {
        case .added(let link): (.added(link.index, name: link.server.name), link.server.stage)
        case .removed(let link): (.removed(link.index), link.server.stage)
        case .up(let link):
            (.up(link.index, greeting: link.greeting, isResting: link.isResting), link.server.stage)
        case .down(let link): (.down(link.index), link.server.stage)
        case .resting(let link): (.resting(link.index, link.isResting), link.server.stage)
        case .writable(let link): (.writable(link.index), link.server.stage)
        case .message, .peerUp, .peerDown, .peerMessage, .peerWritable, .database, .app: nil
        }
    }
}
