/// One load: the connections, what they send and how often, and for how long.
package struct Load: Sendable, Equatable {
    /// The number of rooms, and members of each.
    package var rooms = 20
    package var members = 10
    /// Members of each room that send previews, and previews per second of each.
    package var senders = 2
    package var rate = 60.0
    /// True when the senders of previews want none of others'.
    package var areSendersBlind = false
    /// The share of a room's senders, from 0 to 1, that each of its other members has in its viewport; 1: no viewport.
    package var viewShare = 1.0
    /// Commits per second, all connections together; 0 with a ``commitWindow`` means as many as are acknowledged.
    package var commitRate = 0.0
    /// Members of each room that commit; nil: those that send previews.
    package var committers: Int?
    /// The maximum number of unanswered commits of one connection.
    package var commitWindow = 0
    /// Without a ``commitRate``: the maximum rate of commits of one connection, per second.
    package var commitsPerConnection = 28.0
    /// Further elements in every room, which only groups move.
    package var elements = 0
    /// Commits of groups per second, all rooms together, by the first member of each; and the elements of a group.
    package var groupRate = 0.0
    package var groupElements = 500
    /// Previews of a gesture before its commit: senders drag, pinch and rotate, and send deltas; 0: they send values.
    package var gesturePreviews = 0
    /// Of the senders with gestures, members of each room that move a group of ``groupElements``.
    package var gestureGroups = 0
    /// Content of each moved element, bytes; a commit sends it to all members.
    package var elementBytes = 0
    /// Idle connections, in addition to the members.
    package var idle = 0
    /// The share of a room's members, from 0 to 1, that reads slowly, and the bytes per second that each of them reads;
    /// 0: none.
    package var slowShare = 0.0
    package var slowBytes = 1000
    /// When members are cut off and reconnect immediately, seconds after the start of the measurement; nil: never.
    package var stormAfter: Double?
    /// The share of the members, from 0 to 1, that a storm cuts off.
    package var stormShare = 1.0
    /// Seconds for connecting, for sending before the measurement, and of the measurement.
    package var ramp = 2.0
    package var warmUp = 2.0
    package var duration = 10.0

    package init() {}

    /// Members that send previews, of each room.
    package var previewersPerRoom: Int { self.rate > 0 ? min(self.members, self.senders) : 0 }

    /// Members that commit, of each room.
    package var committersPerRoom: Int {
        guard self.commitRate > 0 || self.commitWindow > 0 else { return 0 }
        return min(self.members, self.committers ?? self.senders)
    }

    /// Members of each room that read slowly: the last ones, never one that sends.
    package var slowPerRoom: Int {
        let wanted = Int((self.slowShare * Double(self.members)).rounded(.up))
        return max(0, min(wanted, self.members - max(self.senders, self.committersPerRoom)))
    }

    /// Nanoseconds between two previews of one sender, or two commits of one committer.
    var previewPeriod: Int64 { self.rate > 0 ? Int64(1e9 / self.rate) : .max }
    var commitPeriod: Int64 {
        let committers = Double(max(1, self.rooms * self.committersPerRoom))
        return Int64(1e9 / (self.commitRate > 0 ? self.commitRate / committers : self.commitsPerConnection))
    }

    /// Nanoseconds between two groups of one room.
    var groupPeriod: Int64 {
        self.groupRate > 0 ? Int64(1e9 * Double(max(1, self.rooms)) / self.groupRate) : .max
    }

    /// Elements that the first member of a room creates beside its own.
    var furtherElements: Int {
        self.groupRate > 0 || self.gestureGroups > 0 ? max(self.elements, self.groupElements) : self.elements
    }

    /// All connections.
    package var connections: Int { self.rooms * self.members + self.idle }

    /// Why it is invalid; nil if it is valid.
    package var problem: String? { self.sizeProblem ?? self.paceProblem }

    private var sizeProblem: String? {
        guard (0...100_000).contains(self.rooms), (1...10_000).contains(self.members) else {
            return "rooms must be 0 to 100000, members 1 to 10000"
        }
        guard (0...1_000_000).contains(self.idle) else { return "idle must be 0 to 1000000" }
        guard (1...1_000_000).contains(self.connections) else { return "1 to 1000000 connections in all" }
        guard (0...self.members).contains(self.senders), (0...self.members).contains(self.committers ?? 0) else {
            return "senders and committers must be 0 to the number of members"
        }
        guard (0...100_000).contains(self.elementBytes) else { return "element-bytes must be 0 to 100000" }
        return (0...100_000).contains(self.elements) ? nil : "elements must be 0 to 100000"
    }

    private var paceProblem: String? {
        guard self.rate == 0 || (0.001...100_000).contains(self.rate) else {
            return "rate must be 0, or 0.001 to 100000 per second"
        }
        guard self.commitRate == 0 || (0.001...10_000_000).contains(self.commitRate) else {
            return "commits must be 0, or 0.001 to 10000000 per second"
        }
        guard self.groupRate == 0 || (0.001...100_000).contains(self.groupRate), (1...500).contains(self.groupElements)
        else { return "groups must be 0, or 0.001 to 100000 per second, group-elements 1 to 500" }
        guard (0...100_000).contains(self.gesturePreviews), (0...self.members).contains(self.gestureGroups) else {
            return "gesture-previews must be 0 to 100000, gesture-groups 0 to the number of members"
        }
        guard (0...10_000).contains(self.commitWindow), (0.001...100_000).contains(self.commitsPerConnection) else {
            return "commit-window must be 0 to 10000, commits-per-connection 0.001 to 100000"
        }
        guard (0...1).contains(self.slowShare), (0...1).contains(self.stormShare), (0...1).contains(self.viewShare)
        else {
            return "shares must be 0 to 1"
        }
        guard (0...1_000_000_000).contains(self.slowBytes) else { return "slow-bytes must be 0 to 1000000000" }
        guard (0...3600).contains(self.ramp), (0...86_400).contains(self.warmUp), (1...604_800).contains(self.duration)
        else { return "ramp must be 0 to 3600 s, warm-up 0 to 86400 s, duration 1 to 604800 s" }
        return (1...604_800).contains(self.stormAfter ?? 1) ? nil : "storm-after must be 1 to 604800 s"
    }
}
