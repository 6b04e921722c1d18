import Canvas
import JSONBytes

/// A small seeded generator, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

let rules = RulesTable.defaults

func json(_ text: String) throws -> JSONValue {
    var document = JSONDocument()
    try document.parse(text.utf8, limits: Element.jsonLimits)
    return document.root
}

/// The field that a piece of reading refuses; nil if it does not.
func refusedField<Value>(_ body: () throws -> Value) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? FieldError)?.field ?? "\(error)"
    }
}

func adjustment(_ field: String, _ sent: Double, _ stored: Double, _ why: Adjustment.Why) -> Adjustment {
    Adjustment(field: field, sent: sent, stored: stored, why: why)
}

/// A new element of a type from an app's JSON members.
func created(_ type: String, _ members: String = "") throws -> (Element, [Adjustment]) {
    let body = try json("{\"type\":\"\(type)\"\(members.isEmpty ? "" : "," + members)}")
    return rules.create(try ElementInput.newElement(body, path: "element"), id: "e1", by: "ann")
}

func text(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

func isClose(_ left: Point, _ right: Point, within tolerance: Double = 1e-9) -> Bool {
    let size = max(1, left.x.magnitude, left.y.magnitude)
    return (left.x - right.x).magnitude <= tolerance * size && (left.y - right.y).magnitude <= tolerance * size
}
