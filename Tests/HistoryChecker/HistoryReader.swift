import JSONBytes

/// Why a history cannot be read.
package struct HistoryFormatError: Error, Equatable, Sendable {
    /// The line, from 1 on.
    package var line: Int
    /// What is wrong with it.
    package var reason: String

    /// An error in a line.
    package init(line: Int, reason: String) {
        self.line = line
        self.reason = reason
    }
}

/// Reads histories: JSON lines, one record each. Fields that it does not know are passed over.
package enum HistoryReader {
    /// A snapshot of a room may be long.
    private static let limits = {
        var limits = JSONLimits()
        limits.keysPerObject = 100_000
        return limits
    }()

    /// Reads a whole file's bytes. Empty lines are allowed.
    /// - Throws: the first line that is no record.
    package static func records(_ bytes: some Collection<UInt8>) throws(HistoryFormatError) -> [HistoryRecord] {
        var records: [HistoryRecord] = []
        var document = JSONDocument()
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if line.isEmpty { continue }
            do throws(JSONError) {
                try document.parse(line, limits: Self.limits)
            } catch {
                throw HistoryFormatError(line: number, reason: "no JSON: \(error.reason.rawValue)")
            }
            records.append(try Self.record(document.root, line: number))
        }
        return records
    }

    private static func record(_ json: JSONValue, line: Int) throws(HistoryFormatError) -> HistoryRecord {
        guard let name = json["kind"]?.string else { throw HistoryFormatError(line: line, reason: "no kind") }
        guard let kind = HistoryRecord.Kind(rawValue: name) else {
            throw HistoryFormatError(line: line, reason: "unknown kind \(name)")
        }
        var record = HistoryRecord(kind)
        for field in kind.required {
            guard let value = json[field.rawValue], record.set(field, value) else {
                throw HistoryFormatError(line: line, reason: "\(name) without a fit \(field.rawValue)")
            }
        }
        for field in kind.optional {
            guard let value = json[field.rawValue], !value.isNull else { continue }
            if !record.set(field, value) {
                throw HistoryFormatError(line: line, reason: "\(name) with an unfit \(field.rawValue)")
            }
        }
        return record
    }
}

extension HistoryRecord {
    /// Takes a field's value over; false when it is of the wrong type.
    fileprivate mutating func set(_ field: HistoryField, _ json: JSONValue) -> Bool {
        switch field {
        case .time: Self.take(json.double, &self.time)
        case .at: Self.take(json.double.map(Optional.some), &self.at)
        case .client: Self.take(json.string, &self.client)
        case .room: Self.take(json.string, &self.room)
        case .session: Self.take(json.string, &self.session)
        case .n: Self.take(json.unsigned, &self.number)
        case .event: Self.take(json.string, &self.event)
        case .element: Self.take(json.string, &self.element)
        case .gesture: Self.take(json.unsigned, &self.gesture)
        case .targets: Self.take(json.strings, &self.targets)
        case .edit: Self.take(json.string, &self.edit)
        case .edits: Self.take(json.strings, &self.edits)
        case .request: Self.take(json.texts, &self.request)
        case .seq: Self.take(json.unsigned, &self.seq)
        case .body: Self.take(json.string, &self.body)
        case .elements: Self.take(json.texts, &self.elements)
        case .geometry: Self.take(json.texts, &self.geometry)
        case .parents: Self.take(json.texts, &self.parents)
        case .parent: Self.take(json.string, &self.parent)
        case .user: Self.take(json.string, &self.user)
        case .undo: Self.take(json.string, &self.undo)
        case .cause: Self.take(json.string, &self.cause)
        case .undone: Self.take(json.unsigned, &self.undone)
        case .unchanged: Self.take(json.bool, &self.isUnchanged)
        case .code: Self.take(json.string, &self.code)
        case .final, .chosen, .whole, .hidden: Self.take(json.bool, &self.isFinal)
        case .epoch: Self.take(json.text, &self.epoch)
        case .from: Self.take(json.unsigned, &self.from)
        case .to: Self.take(json.unsigned, &self.to)
        case .sender: Self.take(json.string, &self.sender)
        case .floor: Self.take(json.unsigned, &self.floor)
        case .shard: Self.take(json.integer.map(Int.init(truncatingIfNeeded:)), &self.shard)
        case .gseq: Self.take(json.unsigned, &self.gseq)
        case .name: Self.take(json.string, &self.name)
        case .value: Self.take(json.integer, &self.value)
        case .part: Self.take(json.unsigned, &self.part)
        case .parts: Self.take(json.unsigned, &self.parts)
        case .box: Self.take(json.box, &self.box)
        case .cursors: Self.take(json.texts, &self.cursors)
        case .selections: Self.take(json.texts, &self.selections)
        }
    }

    private static func take<Value>(_ value: Value?, _ place: inout Value) -> Bool {
        guard let value else { return false }
        place = value
        return true
    }
}

extension JSONValue {
    fileprivate var unsigned: UInt64? { self.integer.flatMap(UInt64.init(exactly:)) }

    /// A text, or a number as it is spelt.
    fileprivate var text: String? {
        self.kind == .number ? String(decoding: self.rawBytes, as: UTF8.self) : self.string
    }

    /// An array of texts.
    fileprivate var strings: [String]? {
        guard self.kind == .array else { return nil }
        let strings = self.elements.compactMap(\.string)
        return strings.count == self.count ? strings : nil
    }

    /// An array of the four sides of a box.
    fileprivate var box: CanvasBox?? {
        guard self.kind == .array else { return nil }
        return CanvasBox(sides: self.elements.compactMap(\.double)).map(Optional.some)
    }

    /// An object of texts.
    fileprivate var texts: [String: String]? {
        guard self.kind == .object else { return nil }
        var texts: [String: String] = [:]
        for (key, value) in self.members {
            guard let key = key.string, let text = value.string else { return nil }
            texts[key] = text
        }
        return texts
    }
}
