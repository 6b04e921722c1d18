public import Canvas
public import JSONBytes

/// `element:preset`: a quarter or half turn, a flip in the element's own axes, or a reset, on top of its stored state.
///
///     element name │ preset text
public struct PresetElement: Edit {
    public static let traits = EditTraits(
        event: "element:preset", tag: 10, isGroup: false, gestures: .ends, motion: .fromHand)

    public var element: Identifier
    public var preset: Preset

    public init(element: Identifier, preset: Preset) {
        self.element = element
        self.preset = preset
    }

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        self.preset = try Self.preset(payload["preset"]?.string)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.preset = try Self.preset(reader.text())
    }

    private static func preset(_ name: String?) throws(Refusal) -> Preset {
        if let preset = name.flatMap(Preset.init(rawValue:)) { return preset }
        let names = Preset.allCases.map(\.rawValue).joined(separator: ", ")
        throw Refusal(.invalid, "A preset is one of \(names).", field: "preset")
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.element)
        writer.text(self.preset.rawValue)
    }
}
