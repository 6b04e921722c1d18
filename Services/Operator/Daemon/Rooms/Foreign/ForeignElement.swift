internal import Canvas
internal import JSONBytes

/// An element that a file of another program becomes, under the file's own names.
struct ForeignElement {
    /// The value of a field.
    enum Value {
        case text(String)
        case number(Double)
        case numbers([Double])
        case flag
        /// The end of an arrow: a place in its own box and, if it is on an element, its name and a place in fractions.
        case end(Point, on: Tie?)
    }

    /// A place on an element, in fractions of its box.
    struct Tie {
        var element: String
        var place: Point
    }

    var id: String
    private(set) var type: String
    private(set) var fields: [(name: StaticString, value: Value)]

    init(_ id: String, _ type: String, _ fields: [(name: StaticString, value: Value)]) {
        self.id = id
        self.type = type
        self.fields = fields
    }

    /// Whether an arrow may be on it.
    var isTarget: Bool { self.type != "arrow" && self.type != "stroke" }

    /// Lets go of elements that are not there.
    mutating func untie(unless isThere: (String) -> Bool) {
        for index in self.fields.indices {
            if case .end(let place, let tie?) = self.fields[index].value, !isThere(tie.element) {
                self.fields[index].value = .end(place, on: nil)
            }
        }
    }

    /// Writes it as an app creates elements.
    /// - Parameter name: the new name of an element or a group.
    func encode(into writer: inout JSONWriter, name: (String) -> String) {
        writer.object { writer in
            writer.member("id", name(self.id))
            writer.member("type", self.type)
            for (field, value) in self.fields {
                switch value {
                case .text(let text): writer.member(field, field.description == "groupId" ? name(text) : text)
                case .number(let number): writer.member(field, number)
                case .flag: writer.member(field, true)
                case .numbers(let numbers):
                    writer.key(field)
                    writer.beginArray()
                    for number in numbers { writer.value(number) }
                    writer.endArray()
                case .end(let place, nil): writer.object(field) { Self.write(place, into: &$0) }
                case .end(let place, let tie?):
                    writer.object(field) { writer in
                        writer.member("element", name(tie.element))
                        Self.write(tie.place, into: &writer)
                        writer.object("at") { Self.write(place, into: &$0) }
                    }
                }
            }
        }
    }

    private static func write(_ point: Point, into writer: inout JSONWriter) {
        writer.member("x", point.x)
        writer.member("y", point.y)
    }
}
