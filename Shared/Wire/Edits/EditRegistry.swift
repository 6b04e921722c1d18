public import JSONBytes

/// Every kind of edit, one line each. The gateway finds an edit by its event and the committer by its tag.
public let allEdits = EditRegistry<
    TransformElement,
    CreateElement,
    CreateElements,
    UpdateElement,
    DeleteElement,
    TransformElements,
    DeleteElements,
    GestureElement,
    GestureElements,
    PresetElement,
    UndoEdit,
    RedoEdit,
    AnimateElement,
    AnimateElements,
    HaltElement,
    HaltElements,
    ThrowElement,
    ThrowElements
>()

/// A list of kinds of edits. A module that requires more of every kind than ``Edit`` (the committer requires its
/// decision) extends the list under the condition that each kind conforms; a kind that does not fails to compile.
public struct EditRegistry<each Kind: Edit>: Sendable {
    public let kinds: [EditKind]

    fileprivate init() {
        var kinds: [EditKind] = []
        for kind in repeat (each Kind).self { kinds.append(EditKind(kind)) }
        self.kinds = kinds
    }

    /// The kind whose event has that name; nil when there is none.
    public func kind(ofEvent name: JSONValue) -> EditKind? {
        self.kinds.first { name.isString($0.traits.event) }
    }

    /// The kind of that tag; nil when there is none, as in a commit of a newer release.
    public func kind(ofTag tag: UInt8) -> EditKind? {
        self.kinds.first { $0.traits.tag == tag }
    }
}

/// One kind of edit as a value, for code that handles edits without knowing the kinds.
public final class EditKind: Sendable {
    public let traits: EditTraits
    private let readPayload: @Sendable (JSONValue, inout EditReading) throws(Refusal) -> ReadEdit
    fileprivate let elements: @Sendable (EncodedEdit) -> ShortList<Identifier>
    fileprivate let bodyHash: @Sendable (EncodedEdit) -> UInt64

    init<Kind: Edit>(_: Kind.Type) {
        self.traits = Kind.traits
        self.readPayload = { payload, reading throws(Refusal) in
            let edit = try Kind(payload, reading: &reading)
            return ReadEdit(
                edit: EncodedEdit(edit), gestureElements: Kind.traits.gestures == .ends ? edit.elements : [])
        }
        self.elements = { encoded in (try? encoded.decode(Kind.self))?.elements ?? [] }
        self.bodyHash = { encoded in
            (try? encoded.decode(Kind.self)).map { BodyHash.of($0) } ?? BodyHash.of(unreadable: encoded)
        }
    }

    /// Reads an edit of this kind from an app's payload.
    /// - Throws: a refusal that names the field at fault.
    public func read(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) -> ReadEdit {
        var read = try self.readPayload(payload, &reading)
        read.edit.motion = try PayloadField.motion(payload, self.traits.motion)
        return read
    }

    /// The elements whose gestures a payload of this kind would end, as far as they can be read: a commit refused for
    /// another invalid field ends them too.
    public func gestureElements(in payload: JSONValue) -> ShortList<Identifier> {
        guard self.traits.gestures == .ends else { return [] }
        if let id = payload["elementId"]?.string { return ShortList(Identifier(id)) }
        guard let group = payload["elements"], group.kind == .array else { return [] }
        return ShortList(
            group.elements.lazy.compactMap { ($0["elementId"]?.string ?? $0.string).map { Identifier($0) } })
    }
}

/// An edit as the gateway needs it: encoded, with the elements whose gestures it ends.
public struct ReadEdit: Equatable, Sendable {
    public var edit: EncodedEdit
    /// The elements whose gestures it ends, in the app's order.
    public var gestureElements: ShortList<Identifier>
}

extension ReadEdit {
    /// A commit that the gateway finally refuses; the gestures that it would have ended have ended already.
    public init(refusal: Refusal, bodyHash: UInt64) {
        self.init(edit: EncodedEdit(refusal: refusal, bodyHash: bodyHash), gestureElements: [])
    }
}

extension EncodedEdit {
    /// The element that it affects; nil when it affects none or several, or its kind is unknown here.
    public var soleElement: Identifier? {
        let elements = allEdits.kind(ofTag: self.tag)?.elements(self) ?? []
        return elements.count == 1 ? elements[0] : nil
    }

    /// What it counts for against a connection's rate of commits.
    public var rateCost: Int { allEdits.kind(ofTag: self.tag)?.traits.rateCost ?? 1 }

    /// How many elements it names if it is an edit of several, else 0. Nothing is decoded but the length of their list.
    public var groupSize: Int {
        guard let kind = allEdits.kind(ofTag: self.tag), kind.traits.isGroup else { return 0 }
        return self.fields.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return Int(reader.integer(UInt32.self))
        }
    }

    /// The identity of its body; see ``BodyHash``.
    public var bodyHash: UInt64 {
        if let refusal = self.refusal { return refusal.bodyHash }
        let edit = allEdits.kind(ofTag: self.tag)?.bodyHash(self) ?? BodyHash.of(unreadable: self)
        return self.identity(of: edit)
    }
}
