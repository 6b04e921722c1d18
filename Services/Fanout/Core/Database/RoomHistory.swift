package import JSONBytes
package import Wire

/// A part of a room's log as one snapshot of the database has it.
package struct RoomHistory: Equatable, Sendable {
    /// The room's last number; 0: never used.
    package var last: UInt64
    /// The first number that the log still has; nil when it has none.
    package var oldest: UInt64?
    /// The rows after the number that was asked for, in order.
    package var entries: [HistoryEntry]

    package init(last: UInt64, oldest: UInt64? = nil, entries: [HistoryEntry] = []) {
        self.last = last
        self.oldest = oldest
        self.entries = entries
    }

    /// As many entries as `limits` allow in one answer, at least one of those that there are.
    /// - Throws: when the room was never used, or a single entry is too large to be sent.
    func page(limits: FanoutLimits) throws(Refusal) -> HistoryPage {
        guard self.last > 0 else { throw Refusal(.notFound, "Nothing was ever done in this room.", field: "roomId") }
        var bytes = 0
        let entries = self.entries.prefix { entry in
            defer { bytes += entry.footprint }
            return bytes == 0 || bytes + entry.footprint <= limits.historyBytes
        }
        if let first = entries.first, first.footprint > limits.replyBytes {
            throw Refusal(
                .tooLarge, "Update \(first.seq) is too large to be sent; its number as `after` skips it.",
                field: "after")
        }
        let next = entries.last.flatMap { $0.seq < self.last ? $0.seq : nil }
        return HistoryPage(entries: Array(entries), next: next, oldest: self.oldest)
    }
}

extension HistoryEntry {
    /// At least the bytes of its JSON text: ids may double when they are escaped.
    fileprivate var footprint: Int {
        self.changes.reduce(256 + 2 * (self.user.text.utf8.count + self.sid.text.utf8.count)) { bytes, change in
            bytes + 48 + 2 * change.element.text.utf8.count + change.before.count + change.after.count
        }
    }
}

extension [HistoryEntry.Change] {
    /// The elements of a row of the log before and after, matched by their ids: those that are there afterwards in
    /// their order, then those that are not. Each side is an element, an array of elements or nothing, whatever the
    /// kind of the update is; what is neither is left out.
    package init(before: [UInt8]?, after: [UInt8]?, with document: inout JSONDocument) {
        let earlier = Self.elements(before, with: &document)
        let later = Self.elements(after, with: &document)
        let texts = Dictionary(earlier, uniquingKeysWith: { first, _ in first })
        let present = Set(later.map(\.id))
        self = later.map { HistoryEntry.Change(element: $0.id, before: texts[$0.id] ?? [], after: $0.json) }
        for element in earlier where !present.contains(element.id) {
            self.append(HistoryEntry.Change(element: element.id, before: element.json, after: []))
        }
    }

    private static func elements(
        _ text: [UInt8]?, with document: inout JSONDocument
    ) -> [(id: Identifier, json: [UInt8])] {
        guard let text, (try? document.parse(text, limits: .logged)) != nil else { return [] }
        let root = document.root
        if root.kind == .object { return root["id"]?.string.map { [(Identifier($0), text)] } ?? [] }
        guard root.kind == .array else { return [] }
        return root.elements.compactMap { element in
            element["id"]?.string.map { (Identifier($0), [UInt8](element.rawBytes)) }
        }
    }
}
