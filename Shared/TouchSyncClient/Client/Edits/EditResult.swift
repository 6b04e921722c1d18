public import Canvas
import JSONBytes
public import TouchSyncClientCore

/// What became of an edit that was applied.
public struct EditResult: CustomStringConvertible, Sendable {
    /// All of it, as the server sent it.
    public let details: JSONObject
    /// Its number in the room.
    public let seq: Int64

    public var description: String { self.details.description }

    /// Nil for the answer of an edit that was refused.
    init?(_ answer: EditAnswer) {
        guard answer.isApplied else { return nil }
        self.details = answer.details
        self.seq = answer.seq ?? 0
        self.foundNothing = answer.foundNothing
    }

    /// The element after the edit; of several the first one; nil when none is left.
    public var element: Element? { self.elements.first }

    /// The elements after the edit.
    public var elements: [Element] {
        if let elements = self.details["elements"] { return elements.objects.compactMap { Element(server: $0) } }
        return self.details["element"].flatMap { Element(server: $0) }.map { [$0] } ?? []
    }

    /// The ids of the elements that were deleted, annotations included.
    public var deletedIds: [String] {
        guard let undone = self.details["undone"] else { return self.details["elementIds"]?.strings ?? [] }
        let kept = Set(self.elements.map(\.id))
        return (undone["elementIds"]?.strings ?? []).filter { !kept.contains($0) }
    }

    /// Whether an undo or a redo found nothing, so that nothing changed; false if it is not known.
    public let foundNothing: Bool

    /// What was stored differently from what was sent.
    public var adjusted: [ElementAdjustment] {
        (self.details["adjusted"]?.objects ?? []).compactMap(ElementAdjustment.init(json:))
    }

    /// Whether it was applied before this client heard of it.
    public var isDuplicate: Bool { self.details["duplicate"]?.bool == true }
}

/// One value that was stored differently from what was sent.
public struct ElementAdjustment: Equatable, Sendable {
    /// The element, if the edit was one of several.
    public let elementId: String?
    /// What was sent, what is stored, and why.
    public let adjustment: Adjustment

    init?(json: JSONValue) {
        guard let field = json["field"]?.string, let sent = json["sent"]?.double, let stored = json["stored"]?.double,
            let why = json["why"]?.string.flatMap(Adjustment.Why.init(rawValue:))
        else { return nil }
        self.elementId = json["elementId"]?.string
        self.adjustment = Adjustment(field: field, sent: sent, stored: stored, why: why)
    }
}
