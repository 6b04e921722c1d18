import PipelineTestKit
import Testing

@testable import Postgres

/// Every type to the server and back.
@Suite("Live values", .serialized, .timeLimit(.minutes(1)))
struct LiveValueTests {
    let connection: BlockingConnection
    let database: LiveDatabase

    init() throws {
        database = try LivePostgres.freshDatabase()
        connection = try database.connect()
    }

    @Test func scalars() throws {
        var parameters = Parameters()
        parameters.append(int2: -3)
        parameters.append(int4: .min)
        parameters.append(int8: .max)
        parameters.append(float8: -0.1)
        parameters.append(bool: true)
        parameters.append(text: "grüße 🎈")
        parameters.append(bytea: [0, 255, 0])
        parameters.append(json: Array(#"{ "a": 1 }"#.utf8))
        parameters.append(jsonb: Array(#"{ "a": 1 }"#.utf8))
        parameters.append(timestamptz: 1_700_000_000_123_456)
        parameters.append(textFormat: "12.50", type: PostgresType(oid: 1700))
        parameters.append(text: "")
        let rows = try connection.execute(
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text, $12, NULL::int8, $10::text AS stamp", parameters
        )
        #expect(rows.int2(0, 0) == -3 && rows.int4(0, 1) == .min && rows.int8(0, 2) == .max)
        #expect(rows.int8(0, 0) == -3 && rows.int2(0, 2) == nil)
        #expect(rows.float8(0, 3) == -0.1 && rows.bool(0, 4) == true)
        #expect(rows.text(0, 5) == "grüße 🎈" && rows.bytes(0, 6) == [0, 255, 0])
        #expect(rows.json(0, 7) == Array(#"{ "a": 1 }"#.utf8) && rows.json(0, 8) == Array(#"{"a": 1}"#.utf8))
        #expect(rows.text(0, 8) == #"{"a": 1}"#)
        #expect(
            rows.timestamptz(0, 9) == 1_700_000_000_123_456 && rows.text(0, 10) == "12.50" && rows.text(0, 11) == "")
        #expect(rows.text(0, 13)?.hasPrefix("2023-11-14 22:13:20.123456") == true)
        #expect(rows.isNull(0, 12) && rows.int8(0, 12) == nil && !rows.isNull(0, 11))
        #expect(try rows.column("stamp") == 13)
        #expect(throws: PostgresError(.undefinedColumn, "the result has no column none")) { try rows.column("none") }
        #expect(rows.isNull(1, 0) && rows.isNull(0, 99) && rows.int8(-1, 0) == nil && rows.int8(0, -1) == nil)
        #expect(rows.text(0, 0) == nil && rows.bool(0, 0) == nil && rows.float8(0, 0) == nil && rows.json(0, 5) == nil)
    }

    @Test("NaN and infinities arrive as they are; infinite times are nil")
    func extremes() throws {
        var parameters = Parameters()
        parameters.append(float8: .nan)
        parameters.append(float8: -.infinity)
        let rows = try connection.execute(
            "SELECT $1, $2, 'infinity'::timestamptz, '-infinity'::timestamptz", parameters)
        #expect(rows.float8(0, 0)?.isNaN == true && rows.float8(0, 1) == -.infinity)
        #expect(rows.timestamptz(0, 2) == nil && rows.timestamptz(0, 3) == nil && !rows.isNull(0, 2))
    }

    @Test func arraysOfEveryTypeWithAndWithoutNULLEmpty() throws {
        var parameters = Parameters()
        func add(_ type: PostgresType, _ fill: (inout BinaryArray) -> Void) {
            var array = BinaryArray(of: type)
            fill(&array)
            parameters.append(array: array)
        }
        add(.text) { for text in ["a", nil, "ü"] as [String?] { $0.append(text: text) } }
        add(.int8) { for number in [1, nil, .min] as [Int64?] { $0.append(int8: number) } }
        add(.int4) { for number in [1, .max] as [Int32] { $0.append(int4: number) } }
        add(.int2) { for number in [nil, -1] as [Int16?] { $0.append(int2: number) } }
        add(.float8) { for number in [0.5, nil] as [Double?] { $0.append(float8: number) } }
        add(.bool) { for flag in [true, nil, false] as [Bool?] { $0.append(bool: flag) } }
        add(.json) { for text in ["[1 ]", nil] as [String?] { $0.append(json: text.map { Array($0.utf8) }) } }
        add(.jsonb) { for text in ["[1 ]", nil] as [String?] { $0.append(json: text.map { Array($0.utf8) }) } }
        add(.bytea) { for bytes in [[0], []] as [[UInt8]] { $0.append(bytea: bytes) } }
        add(.text) { _ in }
        let rows = try connection.execute(
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, cardinality($1), ($2)[3], array_lower($1, 1)", parameters)
        #expect(rows.textArray(0, 0) == ["a", nil, "ü"] && rows.int8Array(0, 1) == [1, nil, .min])
        #expect(rows.int4Array(0, 2) == [1, .max] && rows.int2Array(0, 3) == [nil, -1])
        #expect(rows.float8Array(0, 4) == [0.5, nil] && rows.boolArray(0, 5) == [true, nil, false])
        #expect(
            rows.bytesArray(0, 6) == [Array("[1 ]".utf8), nil] && rows.bytesArray(0, 7) == [Array("[1]".utf8), nil])
        #expect(rows.bytesArray(0, 8) == [[0], []] && rows.textArray(0, 9) == [])
        #expect(rows.int4(0, 10) == 3 && rows.int8(0, 11) == .min && rows.int4(0, 12) == 1)
        #expect(rows.int8Array(0, 0) == nil && rows.textArray(0, 1) == nil && rows.textArray(0, 10) == nil)
        #expect(try connection.execute("SELECT '{{1,2}}'::int8[]").int8Array(0, 0) == nil)
        var raw: [Int] = []
        #expect(rows.forEachElement(0, 0) { raw.append($0?.count ?? -1) })
        #expect(raw == [1, -1, 2])
    }

    @Test("unnest of parallel arrays writes many rows in one statement; builders are used again")
    func unnest() throws {
        try connection.execute("CREATE TABLE t (k int8, v text, d jsonb)")
        var keys = BinaryArray(of: .int8)
        var values = BinaryArray(of: .text)
        var documents = BinaryArray(of: .json)
        var parameters = Parameters()
        for round in 0..<3 as Range<Int64> {
            keys.removeAll()
            values.removeAll()
            documents.removeAll()
            parameters.removeAll()
            for index in 0..<200 as Range<Int64> {
                keys.append(int8: round * 200 + index)
                values.append(text: index % 7 == 0 ? nil : "v\(index)")
                documents.append(json: Array("{\"i\":\(index)}".utf8))
            }
            for array in [keys, values, documents] { parameters.append(array: array) }
            let sql = "INSERT INTO t SELECT k, v, d FROM unnest($1::int8[], $2::text[], $3::json[]) AS x(k, v, d)"
            #expect(try connection.execute(sql, parameters).affected == 200)
        }
        let rows = try connection.execute("SELECT count(*), count(v), sum((d->>'i')::int8)::int8, max(k) FROM t")
        #expect(rows.int8(0, 0) == 600 && rows.int8(0, 1) == 513 && rows.int8(0, 2) == 59700 && rows.int8(0, 3) == 599)
    }

    @Test("a blocking connection: errors, transactions, close")
    func blocking() throws {
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1; SELECT 2") }
        try connection.execute("CREATE TABLE b (k int8)")
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO b VALUES (1)")
                throw Stop()
            }
        }
        try connection.transaction { try connection.execute("INSERT INTO b VALUES (2)") }
        #expect(try connection.execute("SELECT k FROM b").int8(0, 0) == 2)
        connection.close()
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1") }
    }
}
