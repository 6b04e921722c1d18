import Canvas
import JSONBytes

/// A transform brought under the rules: a photo turned and scaled beyond what it may be.
struct ClampTransform: Operation {
    static let name = "clamp-transform"

    private let stored: Element
    private let fields = TransformFields(positionX: 812.25, positionY: 431, rotation: -90, scaleX: 7, scaleY: 6)

    init() {
        var photo = Sample.note(Sample.element)
        photo.type = "photo"
        self.stored = photo
    }

    mutating func turn() -> Bool {
        var element = self.stored
        let adjustments = RulesTable.defaults.apply(self.fields, to: &element)
        return element.scaleX == 5 && element.rotation == 270 && adjustments.count == 3
    }
}

/// An element written as the flat object that apps, the wire and the database have.
struct EncodeElement: Operation {
    static let name = "encode-element"

    private let element = Sample.note(Sample.element)

    init() {}

    mutating func turn() -> Bool {
        Sample.json(self.element).count == Sample.noteText.count
    }
}

/// An element read from such a text.
struct DecodeElement: Operation {
    static let name = "decode-element"

    private var document = JSONDocument()

    init() {}

    mutating func turn() -> Bool {
        guard (try? self.document.parse(Sample.noteText, limits: .element)) != nil else { return false }
        return Element(json: self.document.root)?.originalWidth == 200
    }
}
