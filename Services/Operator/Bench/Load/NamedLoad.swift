/// A load with its name and the figures that it should reach; one phase of a preset that has several.
package struct NamedLoad: Sendable, Equatable {
    /// Where the number of senders comes from.
    package enum Senders: Sendable, Equatable {
        /// The load says it.
        case given
        /// One after the other, as long as what is sent arrives in time: the load is run once for each.
        case tried([Int])
        /// So many times the last number of the latest search that arrived in time.
        case timesFound(Int)
    }

    package var name: String
    /// What this part of the preset is called; nil if there is but one.
    package var phase: String?
    package var load: Load
    package var goals: [Goal]
    package var senders = Senders.given
    /// Goes on with the connections of the load before it, which has the same rooms and members.
    package var continues = false

    package init(_ name: String, phase: String? = nil, _ load: Load, goals: [Goal] = []) {
        self.name = name
        self.phase = phase
        self.load = load
        self.goals = goals
    }

    /// Name and phase for people.
    package var title: String { self.phase.map { "\(self.name), \($0)" } ?? self.name }

    /// One attempt of a search, which only serves to find a number.
    package var isAttempt: Bool { if case .tried = self.senders { true } else { false } }
}
