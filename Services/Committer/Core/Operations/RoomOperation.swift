package import Canvas
import JSONBytes
import Timing
package import Wire

/// A change of a room that only an operator's command makes. It becomes a commit like an app's, so that everything that
/// holds for commits holds for it: numbers, chain and log come from the same ledger.
package enum RoomOperation: Sendable {
    /// Creates elements exactly as they are given, with their authors and revisions. No rule is applied.
    case restore([Element])
    /// Deletes elements and their annotations, locked ones too. Those that no longer exist are left out.
    case delete([Identifier])
}

extension PreparedCommit {
    /// An operation as a commit.
    /// - Parameters:
    ///   - session: the command's stream; see ``Wire/SessionKey/command(_:)``.
    ///   - number: its number there, 1, 2, 3 …
    ///   - user: the author in the log.
    package init(
        _ operation: RoomOperation, in room: Identifier, session: Identifier, number: UInt64, user: Identifier
    ) {
        self.room = room
        self.stream = StreamKey(room, session)
        self.claim = 1
        self.number = number
        self.user = user
        self.connection = 0
        self.gateway = ""
        self.gestures = []
        self.arrived = .start
        self.source = 0
        let body = operation.body
        self.size = body.count
        self.edit = PreparedEdit(.edit(operation.decidable), hash: FNV1a.hash(body))
    }
}

extension RoomOperation {
    fileprivate var decidable: any Decidable {
        switch self {
        case .restore(let elements): RestoreElements(elements: elements)
        case .delete(let elements): EraseElements(elements: elements)
        }
    }

    /// What identifies it: a commit repeated under its number must have the same.
    fileprivate var body: [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        switch self {
        case .restore(let elements): for element in elements { element.encode(into: &writer) }
        case .delete(let elements): for element in elements { writer.value(element.text) }
        }
        writer.endArray()
        return writer.bytes
    }
}

/// Deletes several elements with their annotations, whether they are locked or not.
struct EraseElements: FamilyDeletion {
    let elements: [Identifier]

    var parents: [Identifier] { self.elements }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.elements.count)
        var deletion = Deletion(in: commit.room)
        for element in self.elements { try deletion.addIfLiving(element, in: &draft, &cache) }
        if deletion.change.entries.isEmpty {
            throw Refusal(.notFound, "None of the elements exists any more.", field: "elements")
        }
        return deletion.change
    }
}
