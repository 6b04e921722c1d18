/// The connections of a load, what they send and how often, and for how long.
struct Load: Sendable, Equatable {
    enum Commits: Sendable, Equatable {
        case none
        /// So many per second, by all connections together.
        case steady(Double)
        /// As many as are acknowledged, while no connection has more than these unanswered.
        case acknowledged(window: Int)
    }

    var rooms = 20
    /// Of each room.
    var members = 10
    /// Members of each room that send previews, and how many each sends per second.
    var senders = 2
    var rate = 60.0
    var commits = Commits.none
    /// Members of each room that commit; nil: those that send previews.
    var committers: Int?
    /// Further elements of each room, which only groups move, all of them at once.
    var elements = 0
    /// Commits of groups per second, by the first members of all rooms together.
    var groupRate = 0.0
    /// Previews of a gesture before its commit: senders drag, pinch and rotate, the first of each room a group, and send
    /// deltas; 0: they send values.
    var gesturePreviews = 0
    /// Content of each moved element, bytes; a commit sends it to all members.
    var elementBytes = 0
    /// The share of a room's senders that each other member has in its viewport, where senders want no previews; nil:
    /// everybody sees everything.
    var viewShare: Double?
    /// Members of each room that read slowly, and the bytes that each of them reads per second.
    var slowReaders = 0
    var slowBytes = 0
    /// Connections beside the members.
    var idle = 0
    /// Seconds for connecting, for sending before the measurement, and of the measurement.
    var ramp = 2.0
    var warmUp = 2.0
    var duration = 10.0

    var connections: Int { self.rooms * self.members + self.idle }
    /// Members that send previews, of each room.
    var previewersPerRoom: Int { self.rate > 0 ? min(self.members, self.senders) : 0 }
    /// Members that commit, of each room.
    var committersPerRoom: Int { self.commits == .none ? 0 : min(self.members, self.committers ?? self.senders) }
    /// Members of each room that read slowly: the last ones, never one that sends.
    var slowPerRoom: Int {
        max(0, min(self.slowReaders, self.members - max(self.previewersPerRoom, self.committersPerRoom)))
    }
    /// Members of a room that get a preview if none is folded or lost.
    var receivers: Double {
        let all = Double(self.members - self.slowPerRoom)
        return max(0, self.viewShare.map { (all - Double(self.previewersPerRoom)) * $0 } ?? all - 1)
    }
    /// The maximum number of unanswered commits of one connection.
    var commitWindow: Int { if case .acknowledged(let window) = self.commits { window } else { 16 } }

    /// Commits per second of one committer. A room's rules let a connection commit 30 times a second.
    var committerRate: Double {
        guard case .steady(let rate) = self.commits else { return 28 }
        return rate / Double(max(1, self.rooms * self.committersPerRoom))
    }

    var isPossible: Bool {
        min(self.rooms, self.members - 1, self.idle) >= 0 && self.connections > 0 && self.rate >= 0
            && self.warmUp >= 0 && self.duration >= 1
    }
}
