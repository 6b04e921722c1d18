public import Canvas
import JSONBytes

/// Edits after which elements move by themselves, and the one that stops them. What moves is drawn once the server says
/// from when on.
extension SyncRoom {
    /// Throws an element: it flies on, and comes to rest by the rules of a transform. ``SyncGesture/end(throwing:)`` throws
    /// what fingers hold.
    /// - Parameter start: the pose in which it was let go; what is absent is where it shows.
    @discardableResult
    public func throwElement(
        _ id: String, _ request: Throw, from start: TransformFields = TransformFields(), undo: UndoOptions = .alone
    ) -> SyncEdit {
        self.edit("element:throw", ids: [id], undo) { writer in
            writer.member("elementId", id)
            start.encodeMembers(into: &writer)
            request.encodeMembers(into: &writer)
        }
    }

    /// Throws several elements, which keep their distances until rules part them, all or none.
    @discardableResult
    public func throwElements(_ ids: [String], _ request: Throw, undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("elements:throw", ids: ids, undo) { writer in
            writer.objects("elements", ids) { $1.member("elementId", $0) }
            request.encodeMembers(into: &writer)
        }
    }

    /// Gives an element an animation, or takes it away. Where the element is stored does not change.
    @discardableResult
    public func animate(_ id: String, _ animation: KeyframeAnimation?, undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("element:animate", ids: [id], undo) { writer in
            writer.member("elementId", id)
            writer.member("animation", animation)
        }
    }

    /// Gives several elements an animation, or takes it away, all or none.
    /// - Parameter staggerMs: how much later than the one before it each begins, ms.
    @discardableResult
    public func animate(
        _ ids: [String], _ animation: KeyframeAnimation?, staggerMs: Double? = nil, undo: UndoOptions = .alone
    ) -> SyncEdit {
        self.edit("elements:animate", ids: ids, undo) { writer in
            writer.member("elements", ids)
            writer.member("animation", animation)
            writer.member("staggerMs", ifPresent: staggerMs)
        }
    }

    /// Stops an element where it shows, and stores that. A gesture that begins on it does so by itself.
    /// - Parameter fields: those that stop; nil: all.
    @discardableResult
    public func halt(_ id: String, fields: [ElementField]? = nil, undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("element:halt", ids: [id], undo) { writer in
            writer.member("elementId", id)
            writer.member("fields", ifPresent: fields?.map { "\($0.name)" })
        }
    }

    /// Stops several elements where they show, and stores that, all or none.
    /// - Parameter fields: those that stop; nil: all.
    @discardableResult
    public func halt(_ ids: [String], fields: [ElementField]? = nil, undo: UndoOptions = .alone) -> SyncEdit {
        self.edit("elements:halt", ids: ids, undo) { writer in
            writer.member("elements", ids)
            writer.member("fields", ifPresent: fields?.map { "\($0.name)" })
        }
    }
}
