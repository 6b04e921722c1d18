internal import Canvas
package import CommitterCore
internal import JSONBytes
package import Postgres
internal import Wire

/// Turns a batch into the arguments of `commit_batch`: a few numbers and one array per column. Its storage is kept from
/// batch to batch.
package struct BatchColumns {
    /// The prepared call.
    package static let statement = Statement(
        name: "commit_batch", sql: CallSQL.call("commit_batch", arguments: Self.types.count),
        parameterTypes: Self.types)

    private static let arrayTypes: [PostgresType] = [
        // rooms
        .text, .int8,
        // elements
        .text, .text, .text, .float8, .float8, .float8, .float8, .float8, .float8, .float8, .float8, .float8, .text,
        .text, .int8, .bool, .float8, .float8, .float8, .float8, .float8, .float8, .float8, .text, .text, .json, .int8,
        .int8,
        // log
        .text, .int8, .int8, .text, .text, .text, .int8, .int8, .text, .int8, .json, .json, .int8,
        // streams
        .text, .text, .text, .int8, .int4,
        // refusals
        .text, .text, .int8, .int8, .json,
    ]
    private static let types: [PostgresType] =
        [.int2, .int8, .int8, .int8, .int8] + Self.arrayTypes.map { .array(of: $0) }

    private var columns = Self.arrayTypes.map { BinaryArray(of: $0) }
    private var parameters = Parameters()
    private var writer = JSONWriter()

    /// Empty, to be used again and again.
    package init() {}

    /// The arguments for a batch.
    package mutating func encode(_ batch: ShardBatch) -> Parameters {
        for index in self.columns.indices { self.columns[index].removeAll() }
        for row in batch.rooms {
            self.columns[0].append(text: row.room.text)
            self.columns[1].append(int8: row.seq)
        }
        for row in batch.elements { self.append(row) }
        for row in batch.log { self.append(row) }
        for row in batch.streams { self.append(row) }
        for row in batch.refusals { self.append(row) }
        self.parameters.removeAll()
        self.parameters.append(int2: Int16(truncatingIfNeeded: batch.shard))
        for number in [batch.version, batch.base, batch.gseq, batch.chain] {
            self.parameters.append(int8: Int64(bitPattern: number))
        }
        for column in self.columns { self.parameters.append(array: column) }
        return self.parameters
    }

    private mutating func append(_ row: ShardBatch.ElementRow) {
        let element = row.element
        var column = Cursor(2)
        self.columns[column.next()].append(text: row.room.text)
        self.columns[column.next()].append(text: element.id)
        self.columns[column.next()].append(text: element.type)
        for number in [
            element.positionX, element.positionY, element.rotation, element.scaleX, element.scaleY,
            element.originalWidth, element.originalHeight, element.anchorX, element.anchorY,
        ] {
            self.columns[column.next()].append(float8: number)
        }
        self.columns[column.next()].append(text: element.createdBy)
        self.columns[column.next()].append(text: element.updatedBy)
        self.columns[column.next()].append(int8: element.rev)
        self.columns[column.next()].append(bool: element.locked)
        for number in [
            element.snapDegrees, element.bounds?.x, element.bounds?.y, element.bounds?.width, element.bounds?.height,
            element.fontSize, element.zIndex,
        ] {
            self.columns[column.next()].append(float8: number)
        }
        self.columns[column.next()].append(text: element.space.rawValue)
        self.columns[column.next()].append(text: element.parentId)
        self.columns[column.next()].append(json: self.extra(element))
        self.columns[column.next()].append(int8: row.seq)
        self.columns[column.next()].append(int8: row.isDeleted ? row.seq : nil)
    }

    /// The app's own fields as one object, each value as it came.
    private mutating func extra(_ element: Element) -> [UInt8]? {
        if element.extra.isEmpty { return nil }
        self.writer.clear()
        self.writer.beginObject()
        for field in element.extra {
            self.writer.key(string: field.name)
            self.writer.raw(field.json)
        }
        self.writer.endObject()
        return self.writer.bytes
    }

    private mutating func append(_ row: ShardBatch.LogRow) {
        var column = Cursor(30)
        self.columns[column.next()].append(text: row.room.text)
        self.columns[column.next()].append(int8: row.seq)
        self.columns[column.next()].append(int8: row.gseq)
        self.columns[column.next()].append(text: row.event.name)
        self.columns[column.next()].append(text: row.user.text)
        self.columns[column.next()].append(text: row.session.text)
        self.columns[column.next()].append(int8: row.number)
        self.columns[column.next()].append(int8: row.gestures.first?.gesture ?? 0)
        self.columns[column.next()].append(text: row.element?.text)
        self.columns[column.next()].append(int8: row.hash)
        self.columns[column.next()].append(json: row.before)
        self.columns[column.next()].append(json: row.after)
        self.columns[column.next()].append(int8: row.chain)
    }

    private mutating func append(_ row: ShardBatch.StreamRow) {
        var column = Cursor(43)
        self.columns[column.next()].append(text: row.key.room.text)
        self.columns[column.next()].append(text: row.key.session.text)
        self.columns[column.next()].append(text: row.state.user.text)
        self.columns[column.next()].append(int8: row.state.highest)
        self.columns[column.next()].append(int4: Int32(bitPattern: row.state.claim))
    }

    private mutating func append(_ row: ShardBatch.RefusalRow) {
        var column = Cursor(48)
        self.columns[column.next()].append(text: row.key.stream.room.text)
        self.columns[column.next()].append(text: row.key.stream.session.text)
        self.columns[column.next()].append(int8: row.key.number)
        self.columns[column.next()].append(int8: row.hash)
        self.writer.clear()
        row.refusal.encode(into: &self.writer)
        self.columns[column.next()].append(json: self.writer.bytes)
    }

    /// Walks over the columns of one table.
    private struct Cursor {
        private var column: Int

        init(_ first: Int) { self.column = first }

        mutating func next() -> Int {
            defer { self.column += 1 }
            return self.column
        }
    }
}

extension BinaryArray {
    /// Appends an unsigned number by its bit pattern: what PostgreSQL keeps as a signed one.
    mutating func append(int8 value: UInt64) {
        self.append(int8: Int64(bitPattern: value))
    }

    /// The same for one that may be missing.
    mutating func append(int8 value: UInt64?) {
        self.append(int8: value.map { Int64(bitPattern: $0) })
    }
}

/// The text of calls to functions.
enum CallSQL {
    /// `SELECT function($1, $2, …)`.
    static func call(_ function: String, arguments: Int) -> String {
        "SELECT \(function)(\((1...arguments).map { "$\($0)" }.joined(separator: ", ")))"
    }

    /// `SELECT * FROM function($1, $2, …)`.
    static func rows(_ function: String, arguments: Int) -> String {
        "SELECT * FROM \(function)(\((1...arguments).map { "$\($0)" }.joined(separator: ", ")))"
    }
}
