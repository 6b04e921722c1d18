/// The four stages, in the order in which a commit passes them. Raw values are the names in the daemons' list and in JSON.
package enum PipelineStage: String, CaseIterable, Hashable, Sendable {
    case gateway, coalescer, committer, fanout

    /// The name in sentences.
    package var title: String { self == .fanout ? "fan-out" : self.rawValue }
}
