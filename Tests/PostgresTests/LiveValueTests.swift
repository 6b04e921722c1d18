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
        parameters.append(text: "grüße 🎈")
        parameters.append(text: "")
        let rows = try connection.execute(
            """
            SELECT $1, $2, $3, $4, $5, NULL::int8, -0.1::float8, true, '\\x00ff00'::bytea, '{ "a": 1 }'::json,
                'ab'::varchar, 'cd'::name, 'ef'::char(3), 'NaN'::float8, '-infinity'::float8, 1 AS last
            """, parameters)
        #expect(rows.int2(0, 0) == -3 && rows.int4(0, 1) == .min && rows.int8(0, 2) == .max)
        #expect(rows.int8(0, 0) == -3 && rows.int2(0, 2) == nil)
        #expect(rows.text(0, 3) == "grüße 🎈" && rows.text(0, 4) == "" && !rows.isNull(0, 4))
        #expect(rows.isNull(0, 5) && rows.int8(0, 5) == nil)
        #expect(rows.float8(0, 6) == -0.1 && rows.bool(0, 7) == true && rows.bytes(0, 8) == [0, 255, 0])
        #expect((9...12).map { rows.text(0, $0) } == [#"{ "a": 1 }"#, "ab", "cd", "ef "])
        #expect(rows.float8(0, 13)?.isNaN == true && rows.float8(0, 14) == -.infinity)
        #expect(try rows.column("last") == 15)
        #expect(throws: PostgresError(.undefinedColumn, "the result has no column none")) { try rows.column("none") }
        #expect(rows.isNull(1, 0) && rows.isNull(0, 99) && rows.int8(-1, 0) == nil && rows.int8(0, -1) == nil)
        #expect(rows.text(0, 0) == nil && rows.bool(0, 0) == nil && rows.float8(0, 0) == nil && rows.int8(0, 3) == nil)
    }

    @Test func arraysOfResults() throws {
        let rows = try connection.execute(
            """
            SELECT '{1,NULL,-3}'::int8[] AS numbers, '{7}'::int4[] AS small, '{a,NULL,"ü,"}'::text[] AS texts,
                array['{ "a": 1 }'::json] AS json, '{}'::text[] AS empty, NULL::text[] AS nothing,
                '{{1},{2}}'::int8[] AS two, 7::int8 AS scalar
            """)
        let numbers = try ResultArray("numbers", of: rows)
        #expect((0..<4).map { numbers.int8($0) } == [1, nil, -3, nil] && numbers.count == 3)
        #expect(numbers.text(0) == nil && numbers.bytes(0) == [0, 0, 0, 0, 0, 0, 0, 1] && numbers.bytes(1) == nil)
        #expect(try ResultArray("small", of: rows).int8(0) == 7)
        let texts = try ResultArray("texts", of: rows)
        #expect((0..<3).map { texts.text($0) } == ["a", nil, "ü,"] && texts.int8(0) == nil)
        #expect(try ResultArray("json", of: rows).text(0) == #"{ "a": 1 }"#)
        #expect(try ResultArray("empty", of: rows).count == 0 && ResultArray("nothing", of: rows).count == 0)
        for name in ["two", "scalar"] {
            #expect(throws: PostgresError(.protocolViolation, "\(name) is no array of one dimension")) {
                try ResultArray(name, of: rows)
            }
        }
        #expect(throws: PostgresError(.undefinedColumn, "the result has no column none")) {
            try ResultArray("none", of: rows)
        }
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
        add(.float8) { for number in [0.5, nil, .nan] as [Double?] { $0.append(float8: number) } }
        add(.bool) { for flag in [true, nil, false] as [Bool?] { $0.append(bool: flag) } }
        add(.json) { for text in ["[1 ]", nil] as [String?] { $0.append(json: text.map { Array($0.utf8) }) } }
        add(.text) { _ in }
        let rows = try connection.execute(
            """
            SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text,
                array_length($1, 1), array_lower($1, 1)
            """, parameters)
        let texts = [
            "{a,NULL,ü}", "{1,NULL,-9223372036854775808}", "{1,2147483647}", "{0.5,NULL,NaN}", "{t,NULL,f}",
            #"{"[1 ]",NULL}"#, "{}",
        ]
        #expect((0..<7).map { rows.text(0, $0) } == texts)
        #expect(rows.int4(0, 7) == 3 && rows.int4(0, 8) == 1)
        #expect(rows.text(0, 0) == "{a,NULL,ü}" && rows.int8(0, 0) == nil)
        let array = try connection.execute("SELECT '{1,2}'::int8[]")
        #expect(array.int8(0, 0) == nil && array.text(0, 0) == nil && !array.isNull(0, 0))
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
            try connection.execute(sql, parameters)
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
