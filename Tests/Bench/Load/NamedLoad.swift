/// A load with its name and goals; one phase of a preset.
package struct NamedLoad: Sendable, Equatable {
    /// The source of the number of senders.
    package enum Senders: Sendable, Equatable {
        /// The load itself.
        case given
        /// Tried in order, while previews arrive in time: the load is run once for each.
        case tried([Int])
        /// A multiple of the highest number that the latest search found.
        case timesFound(Int)
    }

    package var name: String
    /// The phase's name; nil if the preset has one phase.
    package var phase: String?
    package var load: Load
    package var goals: [Goal]
    package var senders = Senders.given
    /// Reuses the connections of the previous load, which has the same rooms and members.
    package var continues = false

    package init(_ name: String, phase: String? = nil, _ load: Load, goals: [Goal] = []) {
        self.name = name
        self.phase = phase
        self.load = load
        self.goals = goals
    }

    /// Name and phase for people.
    package var title: String { self.phase.map { "\(self.name), \($0)" } ?? self.name }

    /// True for one attempt of a search.
    package var isAttempt: Bool { if case .tried = self.senders { true } else { false } }
}
