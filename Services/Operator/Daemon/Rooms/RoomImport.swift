internal import Canvas
internal import CommitterCore
internal import Wire

/// Restores an exported room, or a file of another program, in a room without elements.
///
/// The commits belong to a stream that is named by the file, so that a repetition finds those that were written: an
/// import that was interrupted goes on where it stopped, and one that was completed changes nothing.
package struct RoomImport {
    private let session: Identifier
    private let runs: [[Element]]
    private let elements: [Element]
    /// How often what was left out of a file of another program, or changed, by what it is.
    package let left: [(what: String, count: Int)]

    /// - Throws: a failure that names the line at fault.
    package init(_ text: [UInt8]) throws(OperatorFailure) {
        let name = String(FNV1a.hash(text), radix: 16)
        let foreign = ForeignFile(text)
        self.elements =
            if let foreign { try foreign.elements("import-\(name)-", by: RoomStore.user.text) } else {
                try RoomFile(text).elements
            }
        self.left = foreign?.left ?? []
        self.runs = CommitSizes.runs(of: self.elements)
        self.session = SessionKey.command(name)
    }

    package var count: Int { self.elements.count }

    /// Restores the elements.
    /// - Returns: how many of them this call restored.
    /// - Throws: a failure when the room has elements of its own, or has used an id of the file before, or gets one
    ///   meanwhile.
    package func run(on store: RoomStore) throws -> Int {
        let done = try store.highestNumber(in: self.session)
        if done == 0 { try self.check(store) }
        var restored = 0
        for (number, run) in zip(UInt64(1)..., self.runs) {
            // One that was written before gets its first result again, which may be a refusal.
            do {
                _ = try store.commit(.restore(run), session: self.session, number: number)
            } catch let refusal as Refusal {
                throw OperatorFailure(
                    "the room was changed while it was filled, so that commit \(number) of \(self.runs.count) was refused: "
                        + "\(refusal.message) Delete the room's elements and import into another room.")
            }
            if number > done { restored += run.count }
        }
        return restored
    }

    private func check(_ store: RoomStore) throws {
        try self.checkSize(store)
        let living = try store.contents().elements.count
        guard living == 0 else {
            throw OperatorFailure("room \(store.room) has \(living) elements; an import needs a room without any")
        }
        let used = try store.usedIDs(among: self.elements.map(\.id))
        if let index = self.elements.firstIndex(where: { used.contains(Identifier($0.id)) }) {
            throw OperatorFailure(
                "line \(index + 2): room \(store.room) had an element \"\(self.elements[index].id)\", and no id is used "
                    + "twice in a room; import into another room")
        }
    }

    /// The committers would refuse the elements beyond the limits, after those before them were written.
    private func checkSize(_ store: RoomStore) throws(OperatorFailure) {
        let bytes = self.elements.reduce(0) { $0 + $1.storedBytes }
        let parents = Dictionary(grouping: self.elements.compactMap(\.parentId)) { $0 }
        for (what, count, most, setting) in [
            ("elements", self.count, store.limits.roomElements, "room-elements"),
            ("bytes of elements", bytes, store.limits.roomBytes, "room-bytes"),
            (
                "annotations of one element", parents.values.map(\.count).max() ?? 0, store.limits.elementAnnotations,
                "element-annotations"
            ),
        ] where count > most {
            throw OperatorFailure(
                "the file has \(count) \(what), and a room has at most \(most); --\(setting) allows more, and the "
                    + "committers need the same")
        }
    }
}
