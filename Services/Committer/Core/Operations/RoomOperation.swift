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
        self.sessionEpoch = 1
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

/// Creates elements as they were elsewhere, all or none.
struct RestoreElements: Decidable {
    let elements: [Element]

    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for element in self.elements {
            need(Identifier(element.id), .element)
            if let parent = element.parent { need(parent, .annotated) }
        }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.elements.count)
        var change = Change(event: .createdMany, entries: [])
        var restored: [Identifier: Element] = [:]
        let seq = draft.mark(of: commit, &cache).seq
        for (index, element) in self.elements.enumerated() {
            let key = ElementKey(commit.room, Identifier(element.id))
            guard restored[key.element] == nil, draft.state(key, &cache) == .absent else {
                throw Refusal(.conflict, "The id is or was in use.", field: "elements[\(index)].id")
            }
            if let parent = element.parent {
                guard let found = restored[parent] ?? draft.parent(ElementKey(commit.room, parent), &cache),
                    found.parentId == nil
                else { throw Refusal(.notFound, "The parent does not exist.", field: "elements[\(index)].parentId") }
            }
            restored[key.element] = element
            // Its children are not read, so they are unknown: a later commit may add some.
            let authors = RecentAuthors(last: ChangeMark(user: Identifier(element.updatedBy), seq: seq))
            change.entries.append(Change.Entry(key, before: nil, element, children: nil, authors: authors))
        }
        return change
    }
}

extension Element {
    fileprivate var parent: Identifier? { self.parentId.map { Identifier($0) } }
}

extension BatchDraft {
    /// An element that exists; nil when there is none.
    fileprivate mutating func parent(_ key: ElementKey, _ cache: inout ShardCache) -> Element? {
        if case .live(let live) = self.state(key, &cache) { live.element } else { nil }
    }
}
