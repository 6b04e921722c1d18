package import Boot

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
