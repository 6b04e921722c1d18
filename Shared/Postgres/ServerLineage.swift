/// Tells a former primary, and a server that is another one altogether, by what was seen before.
package struct ServerLineage: Equatable, Sendable {
    /// The cluster that was seen first; nil: none that told.
    package private(set) var system: UInt64?
    /// The highest of its timelines that was seen.
    package private(set) var timeline: UInt32 = 0

    /// Nothing was seen yet.
    package init() {}

    /// Why the server is none of those that followed each other; nil when it is, or does not tell.
    package mutating func objection(to facts: ServerFacts) -> String? {
        guard let system = facts.systemIdentifier else { return nil }
        if let known = self.system, known != system { return "the server is another one than before" }
        if let timeline = facts.timeline {
            // A primary that was replaced and came back knows nothing of what was committed since.
            if timeline < self.timeline { return "the server was replaced by another one" }
            self.timeline = timeline
        }
        self.system = system
        return nil
    }
}
