public import Canvas
import JSONBytes
public import TouchSyncClientCore

/// Edits. Each is shown immediately and sent in its turn, over reconnects and, with a store, over restarts.
extension SyncRoom {
    /// A new element. One without an id gets one that nobody else has. Among elements of one `zIndex` it lies above
    /// other ids of this form, as far as the clocks agree, and above all others of letters and digits. Who chooses ids
    /// gives `zIndex`, or ids that sort: `note-9` lies above `note-10`.
    @discardableResult
    public func create(_ element: NewElement, undo: UndoOptions = .alone) -> SyncEdit {
        let element = self.named(element)
        return self.edit("element:create", ids: [element.id], undo, own: element.extra) { writer in
            writer.key("element")
            element.encode(into: &writer)
        }
    }

    /// Several new elements, all or none. Those without ids lie on each other in this order.
    @discardableResult
    public func createAll(_ elements: [NewElement], undo: UndoOptions = .alone) -> SyncEdit {
        let elements = elements.map(self.named)
        return self.edit("elements:create", ids: elements.map(\.id), undo, own: elements.flatMap(\.extra)) { writer in
            writer.key("elements")
            writer.beginArray()
            for element in elements { element.encode(into: &writer) }
            writer.endArray()
        }
    }

    /// Sets values of an element's geometry.
    /// - Parameter motion: how the eye gets there; nil: the element jumps.
    @discardableResult
    public func transform(
        _ id: String, _ fields: TransformFields, motion: MotionRequest? = nil, undo: UndoOptions = .alone
    ) -> SyncEdit {
        self.edit("element:transform", ids: [id], undo) { writer in
            writer.member("elementId", id)
            fields.encodeMembers(into: &writer)
            writer.member("motion", ifPresent: motion)
        }
    }

    /// Sets values of several elements' geometry, of all or of none.
    /// - Parameter motion: how the eye gets there, without a start; nil: the elements jump.
    @discardableResult
    public func transformAll(
        _ transforms: [(elementId: String, fields: TransformFields)], motion: MotionRequest? = nil,
        undo: UndoOptions = .alone
    ) -> SyncEdit {
        self.edit("elements:transform", ids: transforms.map(\.elementId), undo) { writer in
            writer.objects("elements", transforms) { transform, writer in
                writer.member("elementId", transform.elementId)
                transform.fields.encodeMembers(into: &writer)
            }
            writer.member("motion", ifPresent: motion)
        }
    }

    /// Sets and removes options and fields of the app's own, and resizes.
    @discardableResult
    public func update(_ id: String, _ changes: ElementChanges, undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("element:update", ids: [id], undo, own: changes.extra) { writer in
            writer.member("elementId", id)
            writer.object("set") { changes.encodeMembers(into: &$0) }
        }
    }

    /// Gives an element another size about its anchor; its scale stays.
    /// - Parameters:
    ///   - width, height: pixels at scale 1, above 0; nil: as it is.
    @discardableResult
    public func resize(_ id: String, width: Double? = nil, height: Double? = nil, undo: UndoOptions = .alone)
        -> SyncEdit
    {
        var changes = ElementChanges()
        (changes.originalWidth, changes.originalHeight) = (width, height)
        return self.update(id, changes, undo: undo)
    }

    /// Deletes an element with its annotations.
    @discardableResult
    public func delete(_ id: String, undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("element:delete", ids: [id], undo) { $0.member("elementId", id) }
    }

    /// Deletes several elements with their annotations, all or none.
    @discardableResult
    public func delete(_ ids: [String], undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("elements:delete", ids: ids, undo) { $0.member("elementIds", ids) }
    }

    /// Turns or mirrors an element.
    /// - Parameter motion: how the eye gets there; nil: the element jumps.
    @discardableResult
    public func preset(
        _ id: String, _ preset: Preset, motion: MotionRequest? = nil, undo: UndoOptions = .alone
    ) -> SyncEdit {
        self.edit("element:preset", ids: [id], undo) { writer in
            writer.member("elementId", id)
            writer.member("preset", preset.rawValue)
            writer.member("motion", ifPresent: motion)
        }
    }

    /// Takes this user's newest edit back. It is shown when the server has done it. One that cannot be taken back now is
    /// refused with an `entry`; asked a second time in a row, it is left out, and the one before it taken back.
    /// - Parameter motion: how the eye gets there, without a start; nil: the elements jump.
    @discardableResult
    public func undo(motion: MotionRequest? = nil) -> SyncEdit {
        self.edit("history:undo", ids: [], .alone) { $0.member("motion", ifPresent: motion) }
    }

    /// Does again what was undone last, in the same way.
    @discardableResult
    public func redo(motion: MotionRequest? = nil) -> SyncEdit {
        self.edit("history:redo", ids: [], .alone) { $0.member("motion", ifPresent: motion) }
    }

    /// Any edit of the protocol, for what a newer server knows.
    /// - Parameters:
    ///   - event: its name.
    ///   - body: the payload without room and number.
    @discardableResult
    public func edit(_ event: String, _ body: JSONObject) -> SyncEdit {
        self.client.postEdit(elementIds: [], in: self) { .edit(id: $0, event: event, body: body) }
    }

    private func named(_ element: NewElement) -> NewElement {
        var element = element
        if element.id == nil { element.id = self.client.inbox.nextElementID() }
        return element
    }

    /// - Parameter own: the app's own fields in it, of which each must be JSON.
    func edit(
        _ event: String, ids: [String?], _ undo: UndoOptions, own: @autoclosure () -> [ExtraField] = [],
        _ members: (inout JSONWriter) -> Void
    ) -> SyncEdit {
        let text = JSONWriter.text { writer in
            members(&writer)
            undo.encodeMembers(into: &writer)
        }
        let ids = ids.compactMap(\.self)
        guard let body = JSONObject(text: text) else { return self.refused(ids, own()) }
        return self.client.postEdit(elementIds: ids, in: self) { .edit(id: $0, event: event, body: body) }
    }

    /// What the app calls JSON is none.
    private func refused(_ ids: [String], _ own: [ExtraField]) -> SyncEdit {
        let edit = SyncEdit(elementIds: ids, promise: Promise())
        let field = own.first { JSONValue(clientText: $0.json) == nil }?.name
        let message = "A field of the app's own has a value that is no JSON."
        let error = ClientError(code: .invalid, message: message, field: field)
        edit.promise.settle(.failure(error))
        self.hub.tell(.refusal(error))
        return edit
    }
}

/// How an edit is undone.
public struct UndoOptions: Equatable, Sendable {
    /// Whether it can be; true unless said otherwise. One that cannot leaves what can be redone as it is.
    public var undoable: Bool?
    /// Edits of one group that follow each other are undone together; 1–64 bytes.
    public var group: String?

    /// Undone alone, unless said otherwise.
    public init(undoable: Bool? = nil, group: String? = nil) {
        self.undoable = undoable
        self.group = group
    }

    /// Undone alone.
    public static let alone = UndoOptions()
    /// An edit by a program: never undone.
    public static let never = UndoOptions(undoable: false)

    /// Undone together with the edits of its group that follow each other.
    public static func together(_ group: String) -> UndoOptions { UndoOptions(group: group) }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("undoable", ifPresent: self.undoable)
        writer.member("undoGroup", ifPresent: self.group)
    }
}

/// An edit that is shown already, and is sent as soon as it can be. Nobody needs to wait for its result: a refusal is
/// also one of the room's changes.
public struct SyncEdit: Sendable {
    /// The elements that it creates, or changes.
    public let elementIds: [String]
    let promise: Promise<EditResult>

    /// What became of it. It may take as long as there is no connection; cancelling the task does not take the edit
    /// back.
    /// - Throws: `ClientError` when it was refused for good, or the client was closed before there was a result;
    ///   `CancellationError`.
    public var result: EditResult {
        get async throws { try await self.promise.value }
    }
}
