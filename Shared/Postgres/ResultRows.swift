import CLibpq
import Glibc

/// The result of one statement: its rows in binary format.
///
/// Immutable, cheap to copy (it shares libpq's memory, freed with the last copy) and safe to pass between threads.
/// Every accessor returns nil for NULL, for another type, and for a row or column that does not exist.
package struct ResultRows: Sendable {
    /// Owns the C result; calls `PQclear` with the last reference.
    private final class Storage: @unchecked Sendable {  // A PGresult is immutable once libpq has returned it.
        let result: OpaquePointer

        init(_ result: OpaquePointer) {
            self.result = result
        }

        deinit {
            PQclear(result)
        }
    }

    private let storage: Storage
    package let count: Int
    private let columnCount: Int

    /// Takes ownership of the result.
    init(adopting result: OpaquePointer) {
        storage = Storage(result)
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    /// The index of a column. Look it up once for a result, not for each row.
    /// - Throws: 42703 naming the column when the result does not have it.
    package func column(_ name: String) throws(PostgresError) -> Int {
        for index in 0..<columnCount {
            if let candidate = PQfname(storage.result, Int32(index)), name.withCString({ strcmp($0, candidate) == 0 }) {
                return index
            }
        }
        throw PostgresError(.undefinedColumn, "the result has no column \(name)")
    }

    /// The type of a column; unspecified when there is none.
    private func type(_ column: Int) -> PostgresType {
        guard column >= 0, column < columnCount else { return .unspecified }
        return PostgresType(oid: PQftype(storage.result, Int32(column)))
    }

    /// True for NULL and for a row or column that does not exist.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        guard contains(row, column) else { return true }
        return PQgetisnull(storage.result, Int32(row), Int32(column)) != 0
    }

    /// The raw bytes of a field without a copy, only valid inside `body`; nil for NULL.
    package func withBytes<Value, Failure: Error>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard contains(row, column), PQgetisnull(storage.result, Int32(row), Int32(column)) == 0,
            let start = PQgetvalue(storage.result, Int32(row), Int32(column))
        else { return nil }
        let length = Int(PQgetlength(storage.result, Int32(row), Int32(column)))
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(start: start, count: max(0, length)))
    }

    private func contains(_ row: Int, _ column: Int) -> Bool {
        row >= 0 && row < count && column >= 0 && column < columnCount
    }
}

extension ResultRows {
    package func int2(_ row: Int, _ column: Int) -> Int16? {
        int8(row, column).flatMap(Int16.init(exactly:))
    }

    /// integer, or smallint
    package func int4(_ row: Int, _ column: Int) -> Int32? {
        int8(row, column).flatMap(Int32.init(exactly:))
    }

    /// bigint, integer or smallint
    package func int8(_ row: Int, _ column: Int) -> Int64? {
        decode(row, column, FieldDecoding.integer)
    }

    package func float8(_ row: Int, _ column: Int) -> Double? {
        decode(row, column, FieldDecoding.float8)
    }

    package func bool(_ row: Int, _ column: Int) -> Bool? {
        decode(row, column, FieldDecoding.bool)
    }

    /// text, varchar, char, name, json
    package func text(_ row: Int, _ column: Int) -> String? {
        decode(row, column, FieldDecoding.text)
    }

    /// The raw bytes of any type, as for bytea.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        withBytes(row, column) { [UInt8]($0) }
    }

    private func decode<Value>(
        _ row: Int, _ column: Int, _ read: (UnsafeRawBufferPointer, PostgresType) -> Value?
    ) -> Value? {
        let type = type(column)
        return withBytes(row, column) { read($0, type) } ?? nil
    }
}
