package import Trust

/// The stages of the pipeline, in the order in which a commit passes them.
package enum Stage: String, Sendable, CaseIterable {
    case gateway, coalescer, committer, fanout

    /// The role in which its instances prove who they are.
    package var role: PeerRole {
        switch self {
        case .gateway: .gateway
        case .coalescer: .coalescer
        case .committer: .committer
        case .fanout: .fanout
        }
    }
}

/// One instance of a stage.
package struct StageInstance: Hashable, Sendable {
    /// The stage.
    package let stage: Stage
    /// Its index among the stage's instances, in the order of the settings.
    package let index: Int

    /// The instance at an index.
    package init(_ stage: Stage, _ index: Int) {
        self.stage = stage
        self.index = index
    }
}
