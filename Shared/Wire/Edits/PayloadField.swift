public import Canvas
public import JSONBytes

/// Reads fields that several events share from an app's payload. Every fault is a ``Refusal`` that names the field.
public enum PayloadField {
    public static func elementID(_ payload: JSONValue) throws(Refusal) -> Identifier {
        try Self.elementID(payload["elementId"], field: "elementId")
    }

    private static func elementID(_ value: JSONValue?, field: String) throws(Refusal) -> Identifier {
        do { return Identifier(try ElementInput.elementID(value, field: field)) } catch { throw Refusal(error) }
    }

    /// `past` of an undo or a redo: the number of an entry, or absent.
    static func past(_ payload: JSONValue) throws(Refusal) -> UInt64? {
        guard let value = payload["past"] else { return nil }
        guard let seq = value.integer, seq >= 1 else {
            throw Refusal(.invalid, "past is the number of an entry, a whole number from 1 on.", field: "past")
        }
        return UInt64(seq)
    }

    /// The position and transform fields of a preview or a commit.
    public static func transform(_ payload: JSONValue, isPreview: Bool) throws(Refusal) -> TransformFields {
        do { return try TransformFields(payload, isPreview: isPreview) } catch { throw Refusal(error) }
    }

    /// The `motion` of a commit, as JSON text with its defaults; empty if there is none.
    static func motion(_ payload: JSONValue, _ use: MotionUse) throws(Refusal) -> [UInt8] {
        guard use != .ignored, let value = payload["motion"] else { return [] }
        if use == .fromWhatShows, value["from"] != nil {
            throw Refusal(.invalid, "A motion of several elements names no start.", field: "motion.from")
        }
        do { return try MotionRequest(value, path: "motion").jsonText } catch { throw Refusal(error) }
    }

    public static func gestureFields(_ payload: JSONValue) throws(Refusal) -> GestureFields {
        do { return try GestureFields(payload) } catch { throw Refusal(error) }
    }

    /// The pivot and the deltas of a group's gesture. Each element keeps its own anchor.
    public static func groupGesture(_ payload: JSONValue) throws(Refusal) -> (pivot: Point, fields: GestureFields) {
        do {
            var fields = try GestureFields(payload)
            fields.anchor = nil
            return (try GestureFields.pivot(payload), fields)
        } catch {
            throw Refusal(error)
        }
    }

    /// `elements` of an edit of several: an array of at least one and at most `limit` values, each read by `read`.
    static func group<Item>(
        _ payload: JSONValue, _ field: String = "elements", limit: Int,
        _ read: (JSONValue) throws(Refusal) -> Item
    ) throws(Refusal) -> [Item] {
        guard let value = payload[field], value.kind == .array, value.count > 0 else {
            throw Refusal(.invalid, "\(field) is an array of at least one element.", field: field)
        }
        guard value.count <= limit else {
            throw Refusal(.tooLarge, "\(field) has at most \(limit) elements.", field: field)
        }
        var items: [Item] = []
        items.reserveCapacity(value.count)
        for item in value.elements {
            do throws(Refusal) { items.append(try read(item)) } catch {
                throw error.within("\(field)[\(items.count)]")
            }
        }
        return items
    }

    /// The ids of an edit of several, none twice.
    public static func ids(_ payload: JSONValue, _ field: String, limit: Int) throws(Refusal) -> [Identifier] {
        let ids = try Self.group(payload, field, limit: limit) { value throws(Refusal) in
            try Self.elementID(value, field: "")
        }
        try Self.checkUnique(ids, field)
        return ids
    }

    /// `elementIds` of a selection: at most `limit` ids, none twice; empty: nothing is selected.
    public static func selection(_ payload: JSONValue, limit: Int) throws(Refusal) -> [Identifier] {
        if let value = payload["elementIds"], value.kind == .array, value.count == 0 { return [] }
        return try Self.ids(payload, "elementIds", limit: limit)
    }

    /// `x` and `y` of a cursor, pixels of the canvas within ±`CanvasLimits.reach`; both null: hidden.
    public static func cursor(_ payload: JSONValue) throws(Refusal) -> Point? {
        if payload["x"]?.kind == .null, payload["y"]?.kind == .null { return nil }
        let x = try Self.coordinate(payload["x"], "x")
        return Point(x: x, y: try Self.coordinate(payload["y"], "y"))
    }

    /// The most bytes of an app's own state as JSON.
    public static let stateBytes = 1024

    /// `state` of a presence: an object, as JSON text.
    public static func state(_ payload: JSONValue) throws(Refusal) -> [UInt8] {
        guard let value = payload["state"], value.kind == .object else {
            throw Refusal(.invalid, "A state is an object.", field: "state")
        }
        let json = value.rawBytes
        guard json.count <= Self.stateBytes else {
            throw Refusal(.tooLarge, "A state has at most \(Self.stateBytes) bytes as JSON.", field: "state")
        }
        return Array(json)
    }

    private static func coordinate(_ value: JSONValue?, _ field: String) throws(Refusal) -> Double {
        guard let number = value?.double, number.isFinite else {
            throw Refusal(.invalid, "A cursor has two numbers, or null for both to hide it.", field: field)
        }
        return min(max(number, -CanvasLimits.reach), CanvasLimits.reach)
    }

    /// - Parameter member: the place of the id in an element of the array, such as `.elementId`.
    /// - Throws: a refusal that names the second place of an id that is given twice.
    static func checkUnique(
        _ ids: some Sequence<Identifier>, _ field: String = "elements", member: String = ""
    ) throws(Refusal) {
        var seen: Set<Identifier> = []
        for (index, id) in ids.enumerated() where !seen.insert(id).inserted {
            throw Refusal(.invalid, "The id is given twice.", field: "\(field)[\(index)]\(member)")
        }
    }

    /// Reads a value from JSON text that was well-formed when the gateway forwarded it.
    static func parse<Value>(
        _ json: [UInt8], field: String, _ read: (JSONValue) throws(FieldError) -> Value
    ) throws(Refusal) -> Value {
        var document = JSONDocument()
        do { try document.parse(json, limits: .forwarded) } catch {
            throw Refusal(.invalid, "The JSON is not well-formed.", field: field)
        }
        do { return try read(document.root) } catch { throw Refusal(error) }
    }
}

extension ByteReader {
    /// Reads the items of an edit of several.
    /// - Throws: the refusal of the first item at fault.
    mutating func group<Item>(
        _ field: String = "elements", _ read: (inout ByteReader) throws(Refusal) -> Item
    ) throws(Refusal) -> [Item] {
        var fault: Refusal?
        var index = 0
        let items = self.list { reader -> Item? in
            defer { index += 1 }
            do throws(Refusal) {
                return try read(&reader)
            } catch {
                fault = fault ?? error.within("\(field)[\(index)]")
                return nil
            }
        }
        if let fault { throw fault }
        return items.compactMap(\.self)
    }
}

extension Refusal {
    /// The refusal of a part of a payload, which names the field from the payload's root.
    func within(_ path: String) -> Refusal {
        var refusal = self
        refusal.field = self.field.map { $0.isEmpty ? path : "\(path).\($0)" } ?? path
        return refusal
    }

    public init(_ error: FieldError) {
        self.init(error.tooLarge ? .tooLarge : .invalid, error.message, field: error.field)
    }
}
