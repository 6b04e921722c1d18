internal import JSONBytes
internal import Postgres

/// One column of rows that are sent to the database as arrays, one array per column: its name, its type and the source
/// of its values.
struct ArrayColumn<Row>: Sendable {
    let name: String
    let elementType: PostgresType
    /// Appends the values of all rows: one call per column instead of one per value.
    let append: @Sendable ([Row], inout BinaryArray) -> Void

    static func text(_ name: String, _ value: @escaping @Sendable (Row) -> String?) -> Self {
        Self(name: name, elementType: .text) { for row in $0 { $1.append(text: value(row)) } }
    }

    static func bool(_ name: String, _ value: @escaping @Sendable (Row) -> Bool) -> Self {
        Self(name: name, elementType: .bool) { for row in $0 { $1.append(bool: value(row)) } }
    }

    static func int4(_ name: String, _ value: @escaping @Sendable (Row) -> Int32?) -> Self {
        Self(name: name, elementType: .int4) { for row in $0 { $1.append(int4: value(row)) } }
    }

    static func int8(_ name: String, _ value: @escaping @Sendable (Row) -> Int64) -> Self {
        Self(name: name, elementType: .int8) { for row in $0 { $1.append(int8: value(row)) } }
    }

    /// bigint with the bit pattern of an unsigned number.
    static func unsigned(_ name: String, _ value: @escaping @Sendable (Row) -> UInt64?) -> Self {
        Self(name: name, elementType: .int8) { rows, array in
            for row in rows { array.append(int8: value(row).map { Int64(bitPattern: $0) }) }
        }
    }

    static func json(_ name: String, _ value: @escaping @Sendable (Row) -> [UInt8]?) -> Self {
        Self(name: name, elementType: .json) { for row in $0 { $1.append(json: value(row)) } }
    }

    /// JSON that is written into the array without a copy; NULL where `isNull` is true.
    static func json(
        _ name: String, isNull: @escaping @Sendable (Row) -> Bool = { _ in false },
        write: @escaping @Sendable (Row, inout JSONWriter) -> Void
    ) -> Self {
        Self(name: name, elementType: .json) { rows, array in
            for row in rows {
                guard !isNull(row) else {
                    array.appendNull()
                    continue
                }
                array.appendJSON { bytes in
                    var writer = JSONWriter(reserving: 0)
                    swap(&writer.bytes, &bytes)
                    write(row, &writer)
                    swap(&writer.bytes, &bytes)
                }
            }
        }
    }
}

extension Argument {
    /// The columns of a table as arguments.
    static func arrays<Row>(
        _ columns: [ArrayColumn<Row>], of rows: @escaping @Sendable (Input) -> [Row]
    ) -> [Argument<Input>] {
        columns.map { column in
            Argument(column.name, .array(of: column.elementType)) { input, buffer in
                buffer.array.removeAll(for: column.elementType)
                column.append(rows(input), &buffer.array)
                buffer.parameters.append(array: buffer.array)
            }
        }
    }
}
