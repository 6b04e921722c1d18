package import Canvas
internal import JSONBytes
internal import Wire

/// A room as JSON Lines (one JSON value a line): a header, then the elements, parents before their annotations.
///
///     {"touchsyncRoom":1,"roomId":"demo","epoch":"4f1c…","seq":17,"elements":2}
///     {"id":"note-1","type":"note","positionX":80, …}
///     {"id":"text-1","type":"text","positionX":0.5, …, "space":"normalized","parentId":"note-1"}
package struct RoomFile: Equatable, Sendable {
    /// The version that this build writes and reads: the value of `touchsyncRoom`.
    private static let version: Int64 = 1

    /// The room that it was exported from.
    package var room: String
    /// The name of the database's history there, and the room's number in it.
    package var epoch: String
    package var seq: UInt64
    /// Parents before their annotations.
    package private(set) var elements: [Element]

    /// A room at one moment; its elements may come in any order.
    package init(room: String, epoch: String, seq: UInt64, elements: [Element]) {
        self.room = room
        self.epoch = epoch
        self.seq = seq
        let sorted = elements.sorted { Identifier($0.id) < Identifier($1.id) }
        self.elements = sorted.filter { $0.parentId == nil } + sorted.filter { $0.parentId != nil }
    }

    // MARK: Writing

    /// Its text; every line ends with a line feed.
    package var text: [UInt8] {
        var text = JSONWriter.text { writer in
            writer.member("touchsyncRoom", Self.version)
            writer.member("roomId", self.room)
            writer.member("epoch", self.epoch)
            writer.member("seq", self.seq)
            writer.member("elements", self.elements.count)
        }
        text.append(Self.lineFeed)
        var writer = JSONWriter()
        for element in self.elements {
            writer.clear()
            element.encode(into: &writer)
            text += writer.bytes
            text.append(Self.lineFeed)
        }
        return text
    }

    private static let lineFeed = UInt8(ascii: "\n")

    // MARK: Reading

    /// Reads and checks a text.
    /// - Throws: a failure that names the line at fault, 1 being the header's.
    package init(_ text: [UInt8]) throws(OperatorFailure) {
        var lines = text.split(separator: Self.lineFeed, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard let first = lines.first else { throw Self.fault(1, "there is no header") }
        var document = JSONDocument()
        let header = try Self.parse(first, line: 1, &document)
        guard header["touchsyncRoom"]?.integer == Self.version, let room = header["roomId"]?.string,
            let epoch = header["epoch"]?.string, let seq = header["seq"]?.integer.flatMap(UInt64.init(exactly:)),
            let count = header["elements"]?.integer
        else {
            throw Self.fault(1, "this is no header of a room exported by touchsync, or of a newer release")
        }
        self.init(room: room, epoch: epoch, seq: seq, elements: [])
        var seen = SeenElements()
        for (index, line) in lines.dropFirst().enumerated() {
            let element = try Self.element(line, line: index + 2, &document)
            if let reason = seen.objection(to: element) { throw Self.fault(index + 2, reason) }
            self.elements.append(element)
        }
        guard Int64(self.elements.count) == count else {
            throw Self.fault(1, "it announces \(count) elements, but \(self.elements.count) follow")
        }
    }

    private static func element(
        _ text: ArraySlice<UInt8>, line: Int, _ document: inout JSONDocument
    ) throws(OperatorFailure) -> Element {
        let value = try Self.parse(text, line: line, &document)
        do throws(FieldError) {
            // What an app could create, and the fields that only the server sets.
            let new = try NewElement(value, path: "")
            guard let element = Element(json: value) else {
                throw FieldError(field: "", message: "It lacks a field of an exported element.")
            }
            try element.checkStorable()
            try Self.checkUnadjusted(new)
            return element
        } catch {
            throw Self.fault(line, "\(error)")
        }
    }

    /// Checks that a committer would store the element as it is, whatever its rules file. What depends on the time at
    /// which fields were set is not checked: bounds, constraints and steps that were set later moved nothing.
    private static func checkUnadjusted(_ new: NewElement) throws(FieldError) {
        var free = new
        free.constraints = nil
        var unbounded = free
        unbounded.bounds = nil
        let adjustments = [free, unbounded].flatMap { RulesTable.widest.create($0, id: "", by: "").1 }
        guard let found = adjustments.first(where: { $0.why != .bounds && $0.why != .snap }) else { return }
        let reason =
            found.why == .computed
            ? "It is the original side times the scale, which is \(found.stored)."
            : "It is out of range; the nearest value is \(found.stored)."
        throw FieldError(field: found.field, message: reason)
    }

    private static func parse(
        _ line: ArraySlice<UInt8>, line number: Int, _ document: inout JSONDocument
    ) throws(OperatorFailure) -> JSONValue {
        do throws(JSONError) {
            try document.parse(line, limits: .element)
        } catch {
            throw Self.fault(number, "it is no JSON at byte \(error.offset)")
        }
        guard document.root.kind == .object else { throw Self.fault(number, "it is no JSON object") }
        return document.root
    }

    private static func fault(_ line: Int, _ reason: String) -> OperatorFailure {
        OperatorFailure("line \(line): \(reason)")
    }
}

/// The elements on the lines read so far.
private struct SeenElements {
    /// Whether each may have annotations, by id.
    private var isParent: [Identifier: Bool] = [:]

    /// Why an element cannot follow; nil when it can, and then it counts as seen.
    mutating func objection(to element: Element) -> String? {
        guard self.isParent[Identifier(element.id)] == nil else { return "id: It stands on a line before." }
        if let parent = element.parentId, self.isParent[Identifier(parent)] != true {
            return "parentId: No line before has an element of that id that may have annotations."
        }
        self.isParent[Identifier(element.id)] = element.parentId == nil
        return nil
    }
}

extension Element {
    /// Checks what the rules of no type would adjust, but apps count on.
    /// - Throws: the first field that is out of its range.
    fileprivate func checkStorable() throws(FieldError) {
        for (name, text) in [("createdBy", self.createdBy), ("updatedBy", self.updatedBy)]
        where !(1...256).contains(text.utf8.count) {
            throw FieldError(field: name, message: "It has 1 to 256 bytes.")
        }
        // Beyond it JavaScript does not tell one number from the next.
        guard (1..<1 << 53).contains(self.rev) else {
            throw FieldError(field: "rev", message: "It is from 1 to 9007199254740991.")
        }
        guard (0..<360).contains(self.rotation) else {
            throw FieldError(field: "rotation", message: "It is from 0 to below 360.")
        }
    }
}
