package import Boot

/// The stages that a daemon sends to, each with the set of its instances.
package struct StageSets: Sendable {
    private let sets: [Stage: StageSet]

    /// - Parameter addresses: the instances of each stage at first.
    package init(_ addresses: KeyValuePairs<Stage, [PeerAddress]>) {
        self.sets = Dictionary(uniqueKeysWithValues: addresses.map { ($0.key, StageSet($0.key, $0.value)) })
    }

    /// The set of a stage; one without instances for a stage that the daemon sends nothing to.
    package subscript(stage: Stage) -> StageSet { self.sets[stage] ?? StageSet(stage, []) }
}
