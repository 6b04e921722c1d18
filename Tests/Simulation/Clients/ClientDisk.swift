import JSONBytes
import TouchSyncClientCore

/// What an app keeps over its runs.
struct ClientDisk {
    /// The text of what was saved last; nil: nothing is kept.
    private(set) var text: [UInt8]?

    var record: RoomRecord? { self.text.flatMap { RoomRecord(json: AppText($0).root) } }

    mutating func save(_ record: RoomRecord?) {
        var writer = JSONWriter()
        record?.encode(into: &writer)
        self.text = record.map { _ in writer.bytes }
    }

    /// What is known of each edit in it.
    private var edits: [JSONValue] { self.text.flatMap { AppText($0).root["edits"]?.children } ?? [] }

    /// The user's edits in it.
    var names: [String] { self.edits.flatMap { $0["ids"]?.children.compactMap(\.string) ?? [] } }
    /// Whether edits in it were sent.
    var hasSentEdits: Bool { self.edits.contains { $0["n"] != nil } }
    /// Whether edits in it may have been applied in a session that ended.
    var hasDoubts: Bool { self.edits.contains { $0["doubt"] != nil } }
    /// Whether it has edits that were folded.
    var hasFolded: Bool { self.edits.contains { ($0["ids"]?.count ?? 0) > 1 } }

    /// The edit by which a client catches what its user touches; no user made it.
    static let halt = "halt"

    /// The elements that it was to catch and has not yet.
    var caught: [String] {
        self.edits.filter { $0["ids"]?.children.contains { $0.string == Self.halt } == true }.flatMap { edit in
            let body = edit["body"]
            return (body?["elementId"]?.string).map { [$0] } ?? body?["elements"]?.children.compactMap(\.string) ?? []
        }
    }

    /// The user's edits behind each commit in it.
    var commits: [(name: ClientWire.CommitName, edits: [String])] {
        let session = self.text.flatMap { AppText($0).root["sid"]?.string } ?? ""
        return self.edits.compactMap { edit in
            guard let number = edit["n"]?.integer else { return nil }
            let name = ClientWire.CommitName(session: edit["doubt"]?.string ?? session, number: UInt64(number))
            return (name, edit["ids"]?.children.compactMap(\.string).filter { $0 != Self.halt } ?? [])
        }
    }
}
