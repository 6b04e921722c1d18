package import Boot
internal import NIOConcurrencyHelpers

/// The set of a stage's instances in a daemon that sends to them: written by the thread that follows the set's source,
/// read by the thread that has the links.
package final class StageSet: Sendable {
    private struct State {
        var roster: StageRoster
        var version = 0
    }

    package let stage: Stage
    private let state: NIOLockedValueBox<State>

    /// - Parameter addresses: the instances at first, each name once.
    package init(_ stage: Stage, _ addresses: [PeerAddress]) {
        self.stage = stage
        self.state = NIOLockedValueBox(State(roster: StageRoster(addresses)))
    }

    /// The instances, and a number that changes with them.
    package var current: (members: [StageRoster.Member], version: Int) {
        self.state.withLockedValue { ($0.roster.members, $0.version) }
    }

    /// Replaces the set. Who has links to it is to be woken.
    /// - Returns: what that changed.
    package func replace(with addresses: [PeerAddress]) -> StageRoster.Change {
        self.state.withLockedValue { state in
            let change = state.roster.replace(with: addresses)
            if !change.isEmpty { state.version += 1 }
            return change
        }
    }
}
