package import Timing

/// The peers that were refused lately because they have no version in common with this side. A plain value.
///
/// A refused peer tries again every two seconds, so one that is not heard of any more was replaced or removed.
package struct IncompatiblePeers: Sendable {
    private struct Entry {
        let versions: String
        var heardAt: Instant
        var loggedAt: Instant
    }

    /// The most peers that are listed; names on links without keys are anybody's.
    static let capacity = 16
    /// How long a peer is listed after its last try, and the time between two log lines about it.
    static let patience = Nanoseconds.seconds(10)

    private var entries: [String: Entry] = [:]

    package init() {}

    /// A peer was refused.
    /// - Parameter versions: those that it speaks, in words.
    /// - Returns: true when that is to be logged.
    mutating func refused(_ peer: String, speaking versions: String, at now: Instant) -> Bool {
        self.entries = self.entries.filter { now < $0.value.heardAt + Self.patience }
        if let entry = self.entries[peer], entry.versions == versions {
            let isDue = now >= entry.loggedAt + Self.patience
            self.entries[peer] = Entry(versions: versions, heardAt: now, loggedAt: isDue ? now : entry.loggedAt)
            return isDue
        }
        guard self.entries[peer] != nil || self.entries.count < Self.capacity else { return false }
        self.entries[peer] = Entry(versions: versions, heardAt: now, loggedAt: now)
        return true
    }

    /// A peer came up: it was replaced by a compatible one.
    mutating func cameUp(_ peer: String) { self.entries[peer] = nil }

    /// Who is refused at present, in words; nil when nobody is.
    /// - Parameter own: the versions of this side.
    package func note(own: String, at now: Instant) -> String? {
        let present = self.entries.filter { now < $0.value.heardAt + Self.patience }
        guard !present.isEmpty else { return nil }
        let peers = present.sorted { $0.key < $1.key }.map { "\($0.key) speaks \($0.value.versions)" }
        return "no version in common, this daemon speaks \(own): \(peers.joined(separator: ", "))"
    }
}
