public import Canvas
internal import JSONBytes

/// What a connection shows of its person in a room: where the mouse or finger points, and what is selected. It ends with
/// the connection and is never stored.
///
///     connection u64 │ sid name │ hasCursor u8 │ x, y doubles if so │ list of selected element names │ version u64
public struct Attention: Equatable, Sendable {
    /// The connection; 0: unknown.
    public var connection: UInt64
    /// The public name of the connection's session in the room; empty: unknown, from an older peer.
    public var sid: Identifier
    /// The cursor on the canvas, pixels; nil: hidden.
    public var cursor: Point?
    /// The selected elements.
    public var selection: [Identifier]
    /// How often it has changed.
    public var version: UInt64

    /// The most bytes of what everybody in a room has selected: one record holds all of it. Further selections are not shown.
    public static let roomSelectionBytes = 1 << 20

    /// Roughly the bytes of the selection.
    public var selectionBytes: Int { self.selection.reduce(0) { $0 + 24 + $1.text.utf8.count } }

    /// The selected elements as a JSON array; empty: none.
    public var selectionText: [UInt8] {
        if self.selection.isEmpty { return [] }
        var writer = JSONWriter(reserving: self.selectionBytes)
        writer.beginArray()
        for element in self.selection { writer.value(element.text) }
        writer.endArray()
        return writer.bytes
    }

    public init(
        connection: UInt64 = 0, sid: Identifier, cursor: Point? = nil, selection: [Identifier] = [],
        version: UInt64 = 0
    ) {
        self.connection = connection
        self.sid = sid
        self.cursor = cursor
        self.selection = selection
        self.version = version
    }
}

extension ByteWriter {
    /// Appends what a connection shows.
    mutating func attention(_ attention: Attention) {
        self.integer(attention.connection)
        self.name(attention.sid)
        self.bool(attention.cursor != nil)
        if let cursor = attention.cursor { self.point(cursor) }
        self.list(attention.selection) { $1.name($0) }
        self.integer(attention.version)
    }
}

extension ByteReader {
    /// Reads what a connection shows.
    mutating func attention() -> Attention {
        let connection = self.integer(UInt64.self)
        let sid = self.name()
        let cursor = self.bool() ? self.point() : nil
        let selection = self.list { $0.name() }
        return Attention(
            connection: connection, sid: sid, cursor: cursor, selection: selection, version: self.integer())
    }
}

extension Attention {
    /// The previews that show it; none when there is nothing to show.
    /// - Parameter cursorVersion: that of the cursor, if it differs.
    public func previews(in room: Identifier, of user: Identifier, cursorVersion: UInt64? = nil) -> [Preview] {
        var previews: [Preview] = []
        if let cursor = self.cursor {
            previews.append(
                .cursor(
                    cursor, in: room, connection: self.connection, user: user, sid: self.sid,
                    version: cursorVersion ?? self.version))
        }
        if !self.selection.isEmpty {
            previews.append(
                .selection(
                    self.selection, in: room, connection: self.connection, user: user, sid: self.sid,
                    version: self.version))
        }
        return previews
    }
}

/// The elements that somebody has selected. Shared and immutable, like ``PreviewDelta``.
public final class Selection: Sendable, Equatable {
    public let elements: [Identifier]

    /// A selection; empty: nothing is selected any more.
    public init(_ elements: [Identifier]) {
        self.elements = elements
    }

    public static func == (left: Selection, right: Selection) -> Bool {
        left === right || left.elements == right.elements
    }
}

/// Cursors and selections travel as previews, so that all queues fold and pace them. Names that no element can have are
/// their keys, the version is their gesture, and a newer one replaces an older one whole.
extension Preview {
    /// In the place of an element's id: a cursor.
    public static let cursorKey = Identifier("")
    /// In the place of an element's id: a selection.
    public static let selectionKey = Identifier("\u{1}")

    /// A moved cursor; nil: hidden.
    public static func cursor(
        _ cursor: Point?, in room: Identifier, connection: UInt64, user: Identifier, sid: Identifier, version: UInt64
    ) -> Preview {
        Preview(
            room: room, element: Self.cursorKey, connection: connection, user: user, sid: sid, gesture: version,
            fields: TransformFields(positionX: cursor?.x, positionY: cursor?.y))
    }

    /// A changed selection.
    public static func selection(
        _ elements: [Identifier], in room: Identifier, connection: UInt64, user: Identifier, sid: Identifier,
        version: UInt64
    ) -> Preview {
        var preview = Preview(
            room: room, element: Self.selectionKey, connection: connection, user: user, sid: sid, gesture: version,
            fields: TransformFields())
        preview.selection = Selection(elements)
        return preview
    }

    /// True for a cursor or a selection.
    @inlinable public var isAttention: Bool { self.selection != nil || self.element.text.utf8.isEmpty }

    /// The cursor that it shows; nil: hidden, or it shows none.
    public var cursor: Point? {
        guard self.element.isEmpty, let x = self.fields.positionX, let y = self.fields.positionY else { return nil }
        return Point(x: x, y: y)
    }

    /// The same cursor or selection, gone.
    public var hidden: Preview {
        var preview = self
        preview.fields = TransformFields()
        if self.selection != nil { preview.selection = Selection([]) }
        (preview.folded, preview.sinceLast, preview.area) = (1, 0, .everywhere)
        return preview
    }

    /// True for a cursor or a selection that shows nothing.
    public var isHidden: Bool { self.isAttention && self.fields.isEmpty && self.selection?.elements.isEmpty != false }
}
