public import Canvas
public import JSONBytes

/// `element:animate`: sets or removes an element's animation.
///
///     element name │ JSON blob; empty: removes it
public struct AnimateElement: Edit {
    public static let traits = EditTraits(
        event: "element:animate", tag: 13, isGroup: false, gestures: .leavesOpen, motion: .ignored)

    public var element: Identifier
    /// The animation; nil: it is removed.
    public var animation: KeyframeAnimation?

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        self.animation = try PayloadField.animation(payload)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.animation = try PayloadField.animation(reader.blob())
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.element)
        writer.blob(self.animation?.jsonText ?? [])
    }
}

/// `elements:animate`: sets or removes the animation of a group of elements, each starting a little later than the one
/// before it.
///
///     list of element names │ stagger f64 │ JSON blob; empty: removes it
public struct AnimateElements: Edit {
    public static let traits = EditTraits(
        event: "elements:animate", tag: 14, isGroup: true, gestures: .leavesOpen, motion: .ignored)

    /// The elements, in the app's order; none twice.
    public var ids: [Identifier]
    /// The animation; nil: it is removed.
    public var animation: KeyframeAnimation?
    /// By how much each starts later than the one before it, ms.
    public var staggerMs: Double

    private static let staggers = 0.0...10_000.0
    /// The longest text of all their animations, bytes.
    private static let longestTexts = 256 << 10

    public var elements: ShortList<Identifier> { ShortList(self.ids) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.ids = try PayloadField.ids(payload, "elements", limit: reading.largestGroup)
        self.animation = try PayloadField.animation(payload)
        self.staggerMs = try PayloadField.number(payload["staggerMs"], in: Self.staggers, "staggerMs") ?? 0
        if let animation, animation.jsonText.count * self.ids.count > Self.longestTexts {
            throw Refusal(
                .tooLarge, "The animations of a group have at most \(Self.longestTexts) bytes together.",
                field: "animation")
        }
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.ids = reader.list { $0.name() }
        self.staggerMs = reader.finite()
        self.animation = try PayloadField.animation(reader.blob())
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.ids) { id, writer in writer.name(id) }
        writer.double(self.staggerMs)
        writer.blob(self.animation?.jsonText ?? [])
    }
}

extension PayloadField {
    /// The `animation` of a payload; nil for `null`.
    fileprivate static func animation(_ payload: JSONValue) throws(Refusal) -> KeyframeAnimation? {
        guard let value = payload["animation"] else {
            throw Refusal(.invalid, "An animation, or null, is required.", field: "animation")
        }
        if value.isNull { return nil }
        do { return try KeyframeAnimation(value, path: "animation") } catch { throw Refusal(error) }
    }

    /// An animation from its text; nil if that is empty.
    fileprivate static func animation(_ text: [UInt8]) throws(Refusal) -> KeyframeAnimation? {
        if text.isEmpty { return nil }
        return try Self.parse(text, field: "animation") { value throws(FieldError) in
            try KeyframeAnimation(value, path: "animation")
        }
    }

    /// A number in a range; nil if it is absent.
    static func number(
        _ value: JSONValue?, in range: ClosedRange<Double>, _ field: String
    ) throws(Refusal) -> Double? {
        guard let value else { return nil }
        guard let number = value.double, range.contains(number) else {
            throw Refusal(
                .invalid, "A number from \(Int(range.lowerBound)) to \(Int(range.upperBound)) is required.",
                field: field)
        }
        return number
    }
}
