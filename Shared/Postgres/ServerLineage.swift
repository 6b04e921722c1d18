/// Detects a former primary, and an unrelated server, by what was seen before.
package struct ServerLineage: Equatable, Sendable {
    /// The cluster that was seen first; nil: none was identified.
    package private(set) var system: UInt64?
    /// The highest of its timelines seen so far.
    package private(set) var timeline: UInt32 = 0

    package init() {}

    /// Why the server does not continue the lineage; nil when it does, or cannot be identified.
    package mutating func objection(to facts: ServerFacts) -> String? {
        guard let system = facts.systemIdentifier else { return nil }
        if let known = self.system, known != system { return "the server is another one than before" }
        if let timeline = facts.timeline {
            // A primary that was replaced and came back lacks everything committed since.
            if timeline < self.timeline { return "the server was replaced by another one" }
            self.timeline = timeline
        }
        self.system = system
        return nil
    }

    /// True when another server took over from this one after it was accepted.
    package func isFormer(_ facts: ServerFacts) -> Bool {
        facts.timeline.map { $0 < self.timeline } ?? false
    }
}
