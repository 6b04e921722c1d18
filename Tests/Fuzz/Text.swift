import JSONBytes
import Wire

@testable import Boot
@testable import Canvas

/// JSON: what is read can be written, and is the same when it is read again.
@Sendable func fuzzJSON(_ input: UnsafeRawBufferPointer) {
    var document = JSONDocument()
    if let fault = try? document.parseWellFormed(Array(input)) {
        precondition(document.root.path(toByte: fault.offset) != nil, "a fault outside of the document")
    }
    guard (try? document.parse(input)) != nil else { return }
    let written = text { write(document.root, into: &$0) }
    var again = JSONDocument()
    // A number's shortest spelling may be longer than the limit on numbers in what others send.
    var limits = JSONLimits()
    limits.numberLength = 400
    do { try again.parse(written, limits: limits) } catch { fatalError("refuses its own text: \(error)") }
    precondition(text { write(again.root, into: &$0) } == written, "does not come back")
}

/// Elements from apps, and stored ones: what is stored comes back as it was.
@Sendable func fuzzElement(_ input: UnsafeRawBufferPointer) {
    var document = JSONDocument()
    guard (try? document.parse(input, limits: .element)) != nil else { return }
    _ = try? NewElement(document.root, path: "element")
    _ = try? ElementChanges(document.root)
    for isPreview in [false, true] {
        guard let fields = try? TransformFields(document.root, isPreview: isPreview) else { continue }
        let numbers = [fields.positionX, fields.positionY, fields.rotation, fields.scaleX, fields.scaleY]
        precondition(numbers.allSatisfy { $0?.isFinite ?? true }, "a number that is none")
    }
    guard let element = Element(json: document.root) else { return }
    checkGesture(document.root, on: element)
    checkThrow(document.root, of: element)
    let written = text { element.encode(into: &$0) }
    checkGeometry(of: element, written)
    var again = JSONDocument()
    do { try again.parse(written, limits: .element) } catch { fatalError("refuses its element: \(error)") }
    guard let back = Element(json: again.root) else { fatalError("does not know its own element") }
    precondition(text { back.encode(into: &$0) } == written, "an element does not come back")
}

/// A gesture, alone and about a pivot, leaves numbers that can be stored.
private func checkGesture(_ json: JSONValue, on element: Element) {
    guard let gesture = try? GestureFields(json).gesture else { return }
    for pivot in [nil, try? GestureFields.pivot(json)] {
        var moved = element
        _ = RulesTable.defaults.apply(
            gesture, to: &moved, pivot: pivot, parentSize: pivot == nil ? Size(width: 300, height: 200) : nil)
        let numbers = [
            moved.positionX, moved.positionY, moved.rotation, moved.scaleX, moved.scaleY, moved.anchorX, moved.anchorY,
        ]
        precondition(numbers.allSatisfy(\.isFinite), "a number that is none")
    }
}

/// A throw comes back as it was, and leads to numbers that can be stored.
private func checkThrow(_ json: JSONValue, of element: Element) {
    guard let request = try? Throw(json, isGroup: false) else { return }
    let written = text { request.encode(into: &$0) }
    var again = JSONDocument()
    do {
        try again.parse(written)
        let back = try Throw(again.root, isGroup: false)
        precondition(back == request, "a throw does not come back")
    } catch { fatalError("refuses its own throw: \(error)") }
    let sent = (try? TransformFields(json, isPreview: false)) ?? TransformFields()
    var thrown = [ThrownElement(element, fields: sent, shown: TransformFields())]
    RulesTable.defaults.apply(request, to: &thrown, at: 0)
    let rest = thrown[0].element
    precondition([rest.positionX, rest.positionY, rest.rotation].allSatisfy(\.isFinite), "a rest that is none")
    for segment in thrown[0].tracks.entries.flatMap(\.value.segments) {
        precondition(segment.ms > 0 && segment.ms <= 600_000, "a segment without an end")
        precondition(segment.from.isFinite && segment.to.isFinite, "a segment of numbers that are none")
    }
}

/// The geometry that is cut out of an element's text is its first members and `rev`.
private func checkGeometry(of element: Element, _ written: [UInt8]) {
    var whole = JSONDocument()
    var part = JSONDocument()
    do {
        try whole.parse(written, limits: .element)
        try part.parse(ElementText(written).geometry(), limits: .element)
    } catch { fatalError("cuts a text into what is no JSON: \(error)") }
    precondition(part.root.count == 14, "cuts at another place")
    for (key, value) in part.root.members {
        guard let name = key.string, let stored = whole.root[name] else { fatalError("a member that was not there") }
        precondition(stored.rawBytes.elementsEqual(value.rawBytes), "another value")
    }
    precondition(part.root["rev"]?.integer == element.rev, "another element's revision")
}

/// Settings files, rules files, files of instances, peers and connection strings.
@Sendable func fuzzSettings(_ input: UnsafeRawBufferPointer) {
    if let file = try? InstancesFile(parsing: Array(input)) {
        for member in InstancesFile.members { _ = try? file.addresses(of: member) }
    }
    _ = try? SettingsFile(path: "settings", bytes: Array(input))
    let line = String(decoding: input, as: UTF8.self)
    _ = try? PeerAddress(line)
    _ = ConnectionString.masked(line)
    var document = JSONDocument()
    guard (try? document.parse(input)) != nil, let rules = try? RulesTable(json: document.root) else { return }
    let written = text { rules.encode(into: &$0) }
    var again = JSONDocument()
    var limits = JSONLimits()
    limits.keysPerObject = 1000
    do {
        try again.parse(written, limits: limits)
        let back = try RulesTable(json: again.root)
        precondition(text { back.encode(into: &$0) } == written, "rules do not come back")
    } catch {
        fatalError("refuses its own rules: \(error)")
    }
}

/// What a writer wrote.
func text(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    body(&writer)
    return writer.bytes
}

/// Writes a value by its parts.
private func write(_ value: JSONValue, into writer: inout JSONWriter) {
    switch value.kind {
    case .object:
        writer.beginObject()
        for (key, member) in value.members {
            guard let name = key.string else { fatalError("a key that is no text") }
            writer.key(string: name)
            write(member, into: &writer)
        }
        writer.endObject()
    case .array:
        writer.beginArray()
        for element in value.elements { write(element, into: &writer) }
        writer.endArray()
    case .string:
        guard let string = value.string else { fatalError("a string that is no text") }
        writer.value(string)
    case .number:
        guard let number = value.double, number.isFinite else { fatalError("a number that is none") }
        if let integer = value.integer { writer.value(integer) } else { writer.value(number) }
    case .bool: writer.value(value.bool == true)
    case .null: writer.null()
    }
}
