import JSONBytes

/// The body of an update: the text that members get, `["event", {…}]`, and behind it the elements of which that has only a
/// part. Whoever makes an update writes it here, so it reads the same from a committer and from the log.
struct UpdateBody {
    private var json: JSONWriter
    /// The bytes of the text.
    private(set) var textCount = 0
    /// The elements, with their places in the body.
    private(set) var entries: [Update.Entry]
    private let elements: [UpdatedElement]

    var bytes: [UInt8] { self.json.bytes }

    /// - Parameter update: only its header is read.
    init(of update: Update, _ elements: [UpdatedElement]) {
        self.elements = elements
        self.entries = elements.map(Update.Entry.init)
        self.json = JSONWriter(reserving: elements.reduce(256) { $0 + $1.json.count + $1.id.text.utf8.count + 4 })
        self.json.beginArray()
        self.json.value(update.event.name)
        self.json.beginObject()
        if update.event.shape == .flatElement { self.writeMembers() }
        self.json.key("roomId")
        self.json.value(update.room.text)
        self.writeElements(as: update.event.shape)
        self.writeTail(of: update)
        self.json.endObject()
        self.json.endArray()
        self.textCount = self.json.bytes.count
        for index in elements.indices where self.entries[index].range.isEmpty { self.append(index) }
    }

    // MARK: The text

    /// The members of a flat element, of which the body has all but the closing brace.
    private mutating func writeMembers() {
        guard let element = self.elements.first, !element.json.isEmpty else { return }
        let start = self.json.bytes.count - 1
        self.json.rawMembers(element.json.dropFirst().dropLast())
        self.entries[0].range = start..<self.json.bytes.count
    }

    private mutating func writeElements(as shape: UpdateShape) {
        switch shape {
        case .element:
            if self.elements.isEmpty { return }
            self.json.key("element")
            self.write(0)
        case .flatElement: break
        case .elements: self.writeList("elements") { _ in true }
        case .geometries, .animations:
            self.json.key("elements")
            self.json.beginArray()
            for element in self.elements { self.json.raw(shape.appText(of: element)) }
            self.json.endArray()
        case .deletion:
            if let first = self.elements.first { self.json.member("elementId", first.id.text) }
            self.json.member("elementIds", self.elements.map(\.id.text))
        case .changes:
            self.writeList("created") { !$0.json.isEmpty && $0.isNew }
            self.writeList("changed") { !$0.json.isEmpty && !$0.isNew }
            self.json.member("deletedIds", self.elements.filter(\.json.isEmpty).map(\.id.text))
        }
    }

    private mutating func writeList(_ name: StaticString, where isListed: (UpdatedElement) -> Bool) {
        self.json.key(name)
        self.json.beginArray()
        for index in self.elements.indices where isListed(self.elements[index]) { self.write(index) }
        self.json.endArray()
    }

    /// Writes a whole element, and notes where it is.
    private mutating func write(_ index: Int) {
        self.json.raw(self.elements[index].json)
        let end = self.json.bytes.count
        self.entries[index].range = end - self.elements[index].json.count..<end
    }

    private mutating func writeTail(of update: Update) {
        self.json.key("seq")
        self.json.value(update.seq)
        self.json.key("userId")
        self.json.value(update.user.text)
        self.json.key("sid")
        self.json.value(update.sid.text)
        if update.number > 0 {
            self.json.key("n")
            self.json.value(update.number)
        }
        if [.element, .geometries].contains(update.event.shape), let gesture = self.elements.first?.gesture,
            gesture > 0
        {
            self.json.member("gesture", gesture)
        }
        if let cause = update.cause.name { self.json.member("cause", cause) }
    }

    // MARK: Behind the text

    private mutating func append(_ index: Int) {
        let start = self.json.bytes.count
        self.json.bytes += self.elements[index].json
        self.entries[index].range = start..<self.json.bytes.count
    }
}
