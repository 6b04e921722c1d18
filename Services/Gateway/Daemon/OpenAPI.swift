import Canvas
import GatewayCore
import GatewayPages
import JSONBytes
import Wire

/// The description of the HTTP interface, in OpenAPI 3.0: a file, and in place of its placeholders what follows from the
/// table of an element's fields and the list of edits.
enum OpenAPI {
    static let document = [
        "$Element": Self.properties(isNew: false), "$NewElement": Self.properties(isNew: true),
        "$Track": Self.animated("#/components/schemas/Track"),
        "$Keyframes": Self.animated("#/components/schemas/Keyframes"), "$Edits": Self.edits,
    ].reduce(openAPITemplate) { $0.replacing("\"\($1.key)\"", with: $1.value) }

    /// The events of the edits that back ends may make.
    private static var edits: String {
        var writer = JSONWriter(reserving: 512)
        writer.beginArray()
        for kind in allEdits.kinds where CommitRequest.allows(kind) { writer.value(kind.traits.event) }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The properties of a stored element, or of one to create, from the table of its fields.
    private static func properties(isNew: Bool) -> String {
        let text = JSONWriter.text { writer in
            for field in ElementField.stored {
                // What the server sets, it ignores in a new one.
                if isNew, [.motion, .createdBy, .updatedBy, .rev].contains(field) { continue }
                writer.object(field.name) { Self.encodeSchema(of: field, isNew: isNew, into: &$0) }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func encodeSchema(of field: ElementField, isNew: Bool, into writer: inout JSONWriter) {
        let blank = Element(id: "", type: "", createdBy: "")
        switch field.kind {
        case .id, .parent:
            Self.encodeText(1...CanvasLimits.elementIDBytes, into: &writer)
            if isNew { writer.member("pattern", #"^[^\u0000-\u001F\u007F-\u009F]+$"#) }
        case .type: Self.encodeText((isNew ? 1 : 0)...CanvasLimits.typeBytes, into: &writer)
        case .space:
            writer.member("type", "string")
            writer.member("enum", isNew ? ["canvas", "normalized"] : ["normalized"])
        case .user: writer.member("type", "string")
        case .revision: writer.member("type", "integer")
        case .locked: writer.member("type", "boolean")
        case .bounds: writer.member("$ref", "#/components/schemas/Bounds")
        case .constraints: writer.member("$ref", "#/components/schemas/Constraints")
        case .motion: writer.member("$ref", "#/components/schemas/Motion")
        case .animation: writer.member("$ref", "#/components/schemas/\(isNew ? "NewAnimation" : "Animation")")
        case .moving, .size, .anchor: Self.encodeNumber(field, isNew, blank[field], into: &writer)
        case .side, .option: Self.encodeNumber(field, isNew, nil, into: &writer)
        case .envelope: break
        }
        writer.member("description", ifPresent: Self.descriptions[field])
    }

    private static func encodeText(_ length: ClosedRange<Int>, into writer: inout JSONWriter) {
        writer.member("type", "string")
        writer.member("minLength", length.lowerBound)
        writer.member("maxLength", length.upperBound)
    }

    /// - Parameter standard: what a new element gets that does not say it.
    private static func encodeNumber(
        _ field: ElementField, _ isNew: Bool, _ standard: Double?, into writer: inout JSONWriter
    ) {
        writer.member("type", "number")
        if isNew {
            // Beyond its range it is clamped.
            writer.member("minimum", ifPresent: field.isPositive ? 0 : nil)
            writer.member("exclusiveMinimum", ifPresent: field.isPositive ? true : nil)
            writer.member("default", ifPresent: standard)
        } else if let range = field.range {
            writer.member("minimum", range.lowerBound)
            writer.member("maximum", range.upperBound)
        }
    }

    /// The members of an object that has a value of that schema for each field that moves.
    private static func animated(_ schema: String) -> String {
        let text = JSONWriter.text { writer in
            for field in ElementField.animated { writer.object(field.name) { $0.member("$ref", schema) } }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let descriptions: [ElementField: String] = [
        .positionX: "Where the anchor lies, px from the left", .positionY: "px from the top",
        .positionZ: "px towards the viewer; the order of drawing is that of zIndex",
        .width: "px drawn: originalWidth x |scaleX|", .rotation: "Degrees clockwise, 0 to below 360",
        .rotationX: "Degrees, 0 to below 360: a positive one brings the lower edge nearer",
        .rotationY: "Degrees, 0 to below 360: a positive one brings the left edge nearer",
        .perspective: "px from the viewer to the anchor, 50 to 100000; 0: infinitely far",
        .scaleX: "A negative sign mirrors", .parentId: "The element on which this annotation lies",
        .space: "normalized: the position is a fraction of the parent, 0 to 1",
    ]
}
