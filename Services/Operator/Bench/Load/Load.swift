/// One load: who is connected, who sends what and how often, for how long.
package struct Load: Sendable, Equatable {
    /// Rooms, and members of each.
    package var rooms = 20
    package var members = 10
    /// Members of each room that send previews, and previews per second of each.
    package var senders = 2
    package var rate = 60.0
    /// Commits per second, of all together; 0 with a ``commitWindow`` means as many as are acknowledged.
    package var commitRate = 0.0
    /// Members of each room that commit; nil: those that send previews.
    package var committers: Int?
    /// Commits of one connection that may wait for their answers at once.
    package var commitWindow = 0
    /// Without a ``commitRate``: commits per second of one connection at most.
    package var commitsPerConnection = 28.0
    /// Further elements in every room, which nobody moves.
    package var elements = 0
    /// Connections that only are there, besides the members.
    package var idle = 0
    /// The part of a room's members, from 0 to 1, that reads slowly, and how many bytes each of them reads per second.
    package var slowShare = 0.0
    package var slowBytes = 1000
    /// Seconds after the measurement's begin at which members are cut off and connect again at once; nil: never.
    package var stormAfter: Double?
    /// The part of the members, from 0 to 1, that a storm hits.
    package var stormShare = 1.0
    /// Seconds over which connections are made, during which is sent but not measured, and which are measured.
    package var ramp = 2.0
    package var warmUp = 2.0
    package var duration = 10.0

    package init() {}

    /// Members that commit, of each room.
    package var committersPerRoom: Int {
        guard self.commitRate > 0 || self.commitWindow > 0 else { return 0 }
        return min(self.members, self.committers ?? self.senders)
    }

    /// Members that read slowly, of each room: the last ones, never one that sends.
    package var slowPerRoom: Int {
        let wanted = Int((self.slowShare * Double(self.members)).rounded(.up))
        return max(0, min(wanted, self.members - max(self.senders, self.committersPerRoom)))
    }

    /// All connections.
    package var connections: Int { self.rooms * self.members + self.idle }

    /// What is wrong with it; nil if nothing is.
    package var problem: String? {
        func check(_ isSound: Bool, _ text: String) -> String? { isSound ? nil : text }
        let checks: [String?] = [
            check((0...100_000).contains(self.rooms) && (1...10_000).contains(self.members), "too many or no members"),
            check((0...1_000_000).contains(self.idle), "idle must be 0 to 1000000"),
            check(self.connections >= 1 && self.connections <= 1_000_000, "1 to 1000000 connections in all"),
            check((0...self.members).contains(self.senders), "senders must be 0 to the number of members"),
            check((0...self.members).contains(self.committers ?? 0), "committers must be 0 to the number of members"),
            check(self.rate >= 0 && self.rate <= 100_000, "rate must be 0 to 100000 per second"),
            check(self.commitRate >= 0 && self.commitRate <= 10_000_000, "commits must be 0 to 10000000 per second"),
            check((0...10_000).contains(self.commitWindow), "commit-window must be 0 to 10000"),
            check(self.commitsPerConnection > 0, "commits-per-connection must be above 0"),
            check((0...100_000).contains(self.elements), "elements must be 0 to 100000"),
            check((0...1).contains(self.slowShare) && (0...1).contains(self.stormShare), "shares must be 0 to 1"),
            check((1...1_000_000_000).contains(self.slowBytes), "slow-bytes must be 1 to 1000000000 per second"),
            check(
                (0...3600).contains(self.ramp) && (0...86_400).contains(self.warmUp)
                    && (1...604_800).contains(self.duration), "times must be 0 to a week, the duration at least 1 s"),
        ]
        return checks.compactMap { $0 }.first
    }
}
