package import Boot
internal import NIOConcurrencyHelpers

/// The instances of a stage that there are at present, in a daemon that sends to them: written by the thread that follows
/// the set's source, read by the thread that has the links. Each has a number that no other one ever gets: whatever is
/// still on its way to an instance that was removed reaches nobody.
///
///     replace(with: a, b)     a 0, b 1      links to both are opened
///     replace(with: b, c)     b 1, c 2      the link to a is closed, one to c opened; the one to b stays as it is
///     replace(with: a, b, c)  b 1, c 2, a 3
package final class StageSet: Sendable {
    /// An instance.
    package struct Member: Sendable, Equatable {
        /// Its number, for as long as its name and its endpoint stay the same.
        package let number: Int
        /// Its name and endpoint.
        package let address: PeerAddress
    }

    private struct State {
        var members: [Member] = []
        var nextNumber = 0
        var version = 0
    }

    package let stage: Stage
    private let state = NIOLockedValueBox(State())

    /// - Parameter addresses: the instances at first, each name once, which get the numbers from 0 on.
    package init(_ stage: Stage, _ addresses: [PeerAddress]) {
        self.stage = stage
        self.replace(with: addresses)
    }

    /// The instances, in the order of their numbers, and a number that changes with them.
    package var current: (members: [Member], version: Int) {
        self.state.withLockedValue { ($0.members, $0.version) }
    }

    /// Replaces the set. Who has links to it is to be woken.
    /// - Parameter addresses: each name once.
    /// - Returns: true when that changed something.
    @discardableResult
    package func replace(with addresses: [PeerAddress]) -> Bool {
        self.state.withLockedValue { state in
            let wanted = Set(addresses)
            let known = Set(state.members.map(\.address))
            guard wanted != known else { return false }
            state.version += 1
            state.members.removeAll { !wanted.contains($0.address) }
            for address in addresses where !known.contains(address) {
                state.members.append(Member(number: state.nextNumber, address: address))
                state.nextNumber += 1
            }
            return true
        }
    }
}

/// The stages that a daemon sends to, each with the set of its instances.
package struct StageSets: Sendable {
    private let lists: [(stage: Stage, list: InstanceList)]
    private let sets: [Stage: StageSet]

    /// - Parameter lists: the instances of each stage at start.
    package init(_ lists: KeyValuePairs<Stage, InstanceList>) {
        self.lists = lists.map { ($0.key, $0.value) }
        self.sets = Dictionary(uniqueKeysWithValues: lists.map { ($0.key, StageSet($0.key, $0.value.addresses)) })
    }

    /// The set of a stage; one without instances for a stage that the daemon sends nothing to.
    package subscript(stage: Stage) -> StageSet { self.sets[stage] ?? StageSet(stage, []) }

    /// Follows the sources of all sets.
    /// - Parameter changed: called on another thread when a set is another one.
    package func follow(on watch: inout SetWatch, changed: @escaping @Sendable () -> Void) {
        for (stage, list) in self.lists {
            let set = self[stage]
            watch.follow(list, "\(stage.rawValue)s") { addresses in
                if set.replace(with: addresses) { changed() }
            }
        }
    }
}
