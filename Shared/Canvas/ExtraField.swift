package import JSONBytes

/// A field of an element that only the app understands, kept unchanged.
public struct ExtraField: Sendable {
    /// Its name, unescaped.
    public var name: String
    /// Its value's JSON text.
    public var json: [UInt8]

    /// A field from its name and its value's text, which must be one valid JSON value.
    public init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }

    /// In an update: takes the field of that name off the element.
    public static func removal(of name: String) -> ExtraField { ExtraField(name: name, json: Self.null) }

    /// In an update: whether it takes the field off the element.
    var isRemoval: Bool { self.json == Self.null }

    private static let null = Array("null".utf8)

    /// Its size towards the limit, bytes: the value's text and the name as it is stored, in JSON. An escaped control
    /// character counts six bytes.
    var byteCount: Int {
        self.name.utf8.reduce(self.json.count) { size, byte in
            switch byte {
            case 0..<0x20: size + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): size + 2
            default: size + 1
            }
        }
    }
}

extension ExtraField {
    /// Reads one of the app's own fields. A picture that is no data URL is an address.
    init(_ key: JSONValue, _ value: JSONValue, _ path: String) throws(FieldError) {
        self.init(name: key.string ?? "", json: value.rawBytes.onOneLine)
        if isSameText(self.name, Self.pictureName), self.pictureBytes == nil, let text = value.string {
            try PictureAddress.check(text, field: joined(path, Self.pictureName))
        }
    }
}

extension Collection<UInt8> {
    /// JSON text with spaces in place of line breaks, which stand between its values only: what is stored has one line, as
    /// streams of events need it.
    fileprivate var onOneLine: [UInt8] {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        guard self.contains(where: { $0 == lineFeed || $0 == carriageReturn }) else { return Array(self) }
        return self.map { $0 == lineFeed || $0 == carriageReturn ? UInt8(ascii: " ") : $0 }
    }
}

extension ExtraField {
    static let pictureName = "picture"

    /// The length of a picture, which alone may be longer than all own fields together: a text that begins as a data URL of
    /// an image does. Nil for any other field.
    var pictureBytes: Int? {
        guard isSameText(self.name, Self.pictureName) else { return nil }
        let isPicture = Self.pictureStarts.contains { self.json.starts(with: $0) }
        return isPicture ? self.json.count - 2 : nil
    }

    /// Some write a slash in JSON as `\/`.
    private static let pictureStarts = [#""data:image/"#, #""data:image\/"#].map { Array($0.utf8) }
}

extension ExtraField: Equatable {
    /// Bytewise: names that are canonically equivalent in Unicode are different names.
    public static func == (left: ExtraField, right: ExtraField) -> Bool {
        isSameText(left.name, right.name) && left.json == right.json
    }
}

/// The app's own fields of an element: each name is there once.
extension [ExtraField] {
    /// Writes them as members of the open object.
    package func encodeMembers(into writer: inout JSONWriter) {
        for field in self {
            writer.key(string: field.name)
            writer.raw(field.json)
        }
    }

    /// Whether an element may have them: their number, and their size with their names.
    var isWithinLimits: Bool {
        do { try self.checkLimits(field: "") } catch { return false }
        return true
    }

    /// Rejects fields that an element may not have as too large, with the limit that they are over.
    /// - Parameter pictureBytes: the maximum length of a picture. One that fits among all others is never too long.
    func checkLimits(field: String, pictureBytes: Int = CanvasLimits.pictureBytes) throws(FieldError) {
        func excess(_ field: String, _ message: String) -> FieldError {
            FieldError(field: field, message: message, tooLarge: true)
        }
        guard self.count <= CanvasLimits.extraFields else {
            throw excess(field, "An element has at most \(CanvasLimits.extraFields) own fields.")
        }
        let bytes = self.reduce(0) { $0 + $1.byteCount }
        guard bytes > CanvasLimits.extraBytes else { return }
        let picture = self.first { $0.pictureBytes != nil }
        guard let picture, pictureBytes > 0, bytes - picture.byteCount <= CanvasLimits.extraBytes else {
            throw excess(field, "An element's own fields have at most \(CanvasLimits.extraBytes) bytes.")
        }
        guard let length = picture.pictureBytes, length > pictureBytes else { return }
        throw excess(Canvas.joined(field, ExtraField.pictureName), "A picture has at most \(pictureBytes) bytes.")
    }

    func value(of name: String) -> [UInt8]? { self.first { isSameText($0.name, name) }?.json }

    /// Replaces a field's value, appends the field if it is new, or removes it if the value is nil.
    mutating func set(_ name: String, to json: [UInt8]?) {
        let index = self.firstIndex { isSameText($0.name, name) }
        switch (index, json) {
        case (let index?, let json?): self[index].json = json
        case (nil, let json?): self.append(ExtraField(name: name, json: json))
        case (let index?, nil): self.remove(at: index)
        case (nil, nil): break
        }
    }

    /// These fields after an update. Values are replaced whole.
    func updated(by fields: [ExtraField]) -> [ExtraField] {
        var merged = self
        for field in fields { merged.set(field.name, to: field.isRemoval ? nil : field.json) }
        return merged
    }
}

/// `isSameText` for strings that may be absent.
func isSameText(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return isSameText(left, right)
}
