public import JSONBytes

/// Writes an update, in the order of its bytes. Whoever makes one does it here, so it reads the same from a committer and
/// from the log.
struct UpdateWriter {
    /// The update's bytes so far.
    private var json = JSONWriter(reserving: 0)
    private(set) var bodyStart = 0
    private(set) var textCount = 0
    /// The elements, with their places in the body.
    private(set) var entries: [Update.Entry]
    private let elements: [UpdatedElement]

    init(_ elements: [UpdatedElement]) {
        self.elements = elements
        self.entries = elements.map(Update.Entry.init)
    }

    /// Writes all fields.
    /// - Parameter update: its numbers and names are read.
    mutating func write(_ update: Update) -> [UInt8] {
        self.writeHeader(of: update)
        self.writeText(of: update)
        for index in self.elements.indices where self.entries[index].range.isEmpty { self.append(index) }
        var fields = ByteWriter()
        swap(&fields.bytes, &self.json.bytes)
        fields.patch(UInt32(truncatingIfNeeded: self.textCount), at: self.bodyStart - 8)
        fields.patch(UInt32(truncatingIfNeeded: fields.bytes.count - self.bodyStart), at: self.bodyStart - 4)
        fields.list(self.entries) { $1.entry($0) }
        if let trace = update.trace { fields.trace(trace) }
        return fields.bytes
    }

    // MARK: The header

    private mutating func writeHeader(of update: Update) {
        let names = FieldRun.size(of: update.room) + FieldRun.size(of: update.user) + FieldRun.size(of: update.sid)
        let size = 42 + names + 8
        // Text around the elements, and for each of them its place and perhaps its id.
        let rest = self.elements.reduce(256 + 2 * names) { $0 + $1.json.count + 2 * $1.id.text.utf8.count + 32 }
        var fields = ByteWriter(reserving: size + rest)
        fields.run(upTo: size) { run in
            run.integer(update.shard)
            run.integer(update.event.rawValue | update.cause.rawValue << 6)
            run.integer(update.gseq)
            run.integer(update.seq)
            run.integer(update.number)
            run.integer(update.link)
            run.integer(update.chain)
            run.name(update.room)
            run.name(update.user)
            run.name(update.sid)
            // The sizes of the text and the body, which are not known yet.
            run.integer(0 as UInt64)
        }
        self.bodyStart = fields.bytes.count
        swap(&fields.bytes, &self.json.bytes)
    }

    // MARK: The text

    private mutating func writeText(of update: Update) {
        self.json.beginArray()
        self.json.value(update.event.name)
        self.json.beginObject()
        if update.event.shape == .flatElement { self.writeMembers() }
        self.json.key("roomId")
        self.json.value(update.room.text)
        self.writeElements(as: update.event.shape)
        let isMove = update.event.shape == .element || update.event.shape == .geometries
        update.writeTail(gesture: isMove ? self.elements.first?.gesture ?? 0 : 0, into: &self.json)
        self.json.endObject()
        self.json.endArray()
        self.textCount = self.json.bytes.count - self.bodyStart
    }

    /// The members of a flat element, of which the body has all but the closing brace.
    private mutating func writeMembers() {
        guard let element = self.elements.first, !element.json.isEmpty else { return }
        let start = self.end - 1
        self.json.rawMembers(element.json.dropFirst().dropLast())
        self.entries[0].range = start..<self.end
    }

    private mutating func writeElements(as shape: UpdateShape) {
        switch shape {
        case .element:
            if self.elements.isEmpty { return }
            self.json.key("element")
            self.write(0)
        case .flatElement: break
        case .elements, .geometries, .animations: self.writeList("elements") { _ in true }
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

    /// Writes what apps get of an element; a whole one is noted.
    private mutating func write(_ index: Int) {
        self.json.raw(self.elements[index].shown)
        if !self.elements[index].part.isEmpty { return }
        self.entries[index].range = self.end - self.elements[index].json.count..<self.end
    }

    // MARK: Behind the text

    /// Where the body ends so far.
    private var end: Int { self.json.bytes.count - self.bodyStart }

    private mutating func append(_ index: Int) {
        let start = self.end
        self.json.bytes += self.elements[index].json
        self.entries[index].range = start..<self.end
    }
}

extension Update {
    /// Writes the members of its text that stand behind the elements.
    /// - Parameter gesture: the one that it ends; 0: none is told.
    public func writeTail(gesture: UInt64 = 0, into json: inout JSONWriter) {
        json.member("seq", self.seq)
        json.member("userId", self.user.text)
        json.member("sid", self.sid.text)
        if self.number > 0 { json.member("n", self.number) }
        if gesture > 0 { json.member("gesture", gesture) }
        if let cause = self.cause.name { json.member("cause", cause) }
    }
}

extension ByteWriter {
    fileprivate mutating func entry(_ entry: Update.Entry) {
        self.run(upTo: FieldRun.size(of: entry.id) + 17) { run in
            run.name(entry.id)
            run.integer(entry.gesture)
            run.bool(entry.isNew)
            run.integer(UInt32(truncatingIfNeeded: entry.range.lowerBound))
            run.integer(UInt32(truncatingIfNeeded: entry.range.count))
        }
    }
}
