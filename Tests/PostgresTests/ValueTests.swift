import Testing

@testable import Postgres

@Suite("Values without a server")
struct ValueTests {
    @Test("SQLSTATE: text and back, prefixes, what may be tried again")
    func sqlState() {
        #expect(SQLState("40P01").description == "40P01")
        #expect(SQLState("40P01") == .deadlockDetected)
        for odd in ["", "4000", "400011", "40p01", "4000é", "     "] { #expect(SQLState(odd) == .unspecified) }
        #expect(SQLState.unspecified.description.isEmpty)
        #expect(SQLState("57P01").hasPrefix("57P"))
        #expect(!SQLState("57014").hasPrefix("57P"))
        #expect(!SQLState.unspecified.hasPrefix(""))
        for code in ["40001", "40P01", "55P03", "57014", "53100", "53300", "08006", "57P01", "57P02", "57P03", "25006"]
        {
            #expect(SQLState(code).isRetriable, "\(code)")
        }
        for code in ["23505", "23514", "22003", "22021", "42P01", "42601", "P0001", "", "0A000"] {
            #expect(!SQLState(code).isRetriable, "\(code)")
        }
        for code in ["25006", "57P01", "57P02", "57P03", "53300", "08006"] { #expect(SQLState(code).endsSession) }
        for code in ["57014", "53100", "40001", "26000"] { #expect(!SQLState(code).endsSession) }
    }

    @Test("text[] with a NULL, golden bytes")
    func goldenTextArray() {
        var array = BinaryArray(of: .text)
        array.append(text: "ab")
        array.appendNull()
        array.append(text: "")
        var bytes: [UInt8] = []
        array.write(into: &bytes)
        #expect(
            bytes == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 3, 0, 0, 0, 1,
                0, 0, 0, 2, 97, 98, 255, 255, 255, 255, 0, 0, 0, 0,
            ])
        #expect(array.count == 3)
        array.removeAll()
        bytes = []
        array.write(into: &bytes)
        #expect(bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25])
    }

    @Test func numberArraysGoldenBytes() {
        func header(_ oid: UInt8, _ high: UInt8 = 0) -> [UInt8] {
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, high, oid, 0, 0, 0, 1, 0, 0, 0, 1]
        }
        func bytes(_ type: PostgresType, _ fill: (inout BinaryArray) -> Void) -> [UInt8] {
            var array = BinaryArray(of: type)
            fill(&array)
            var bytes: [UInt8] = []
            array.write(into: &bytes)
            return bytes
        }
        #expect(bytes(.int4) { $0.append(int4: 258) } == header(23) + [0, 0, 0, 4, 0, 0, 1, 2])
        #expect(bytes(.int8) { $0.append(int8: 1) } == header(20) + [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(
            bytes(.float8) { $0.append(float8: 1.5) } == header(189, 2) + [0, 0, 0, 8, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0])
        #expect(bytes(.bool) { $0.append(bool: true) } == header(16) + [0, 0, 0, 1, 1])
        #expect(bytes(.json) { $0.append(json: [0x7B, 0x7D]) } == header(114) + [0, 0, 0, 2, 0x7B, 0x7D])
    }

    @Test func fieldsOfTheWrongSizeOrTypeAreNil() {
        func with<Value>(_ bytes: [UInt8], _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
            bytes.withUnsafeBytes(read)
        }
        for count in 0..<12 where count != 8 {
            #expect(with(Array(repeating: 1, count: count)) { FieldDecoding.integer($0, .int8) } == nil)
            #expect(with(Array(repeating: 1, count: count)) { FieldDecoding.float8($0, .float8) } == nil)
        }
        #expect(with([0, 0, 0, 5]) { FieldDecoding.integer($0, .text) } == nil)
        #expect(with([0xC3]) { FieldDecoding.text($0, .text) } == nil)
    }

    @Test func severalHostsBecomeSeveralTargetsEachWithWhatAllShare() throws {
        let parsed = try ConnectionTargets(
            "postgresql://me@one:1,two:2/db?connect_timeout=7", defaults: ["application_name": "x", "user": "other"])
        #expect(parsed.targets.map { $0["host"] } == ["one", "two"])
        #expect(parsed.targets.map { $0["port"] } == ["1", "2"])
        #expect(
            parsed.targets.allSatisfy { $0["user"] == "me" && $0["dbname"] == "db" && $0["application_name"] == "x" })
        #expect(parsed.connectTimeout == 7)
        #expect(try ConnectionTargets("host=a,b port=9", defaults: [:]).targets.map { $0["port"] } == ["9", "9"])
        #expect(try ConnectionTargets("hostaddr=1.2.3.4,::1", defaults: [:]).targets.count == 2)
        #expect(try ConnectionTargets("dbname=x", defaults: [:]).targets.count == 1)
        #expect(throws: PostgresError.self) { try ConnectionTargets("host=a,b port=1,2,3", defaults: [:]) }
        #expect(throws: PostgresError.self) { try ConnectionTargets("host=a,b hostaddr=::1", defaults: [:]) }
        #expect(throws: PostgresError.self) { try ConnectionTargets("nonsense=1", defaults: [:]) }
        #expect(throws: PostgresError.self) { try ConnectionTargets("postgresql://[::1", defaults: [:]) }
    }

    @Test func theSQLSTATEInsideLibpqsTextAboutAFailedAttempt() {
        let starting =
            #"connection to server on socket "/x/.s.PGSQL.5432" failed: FATAL:  57P03: the database starts up"#
        #expect(LibpqText.connectError(starting + "\nLOCATION:  here.c:12345:").sqlState == .cannotConnectNow)
        #expect(
            LibpqText.connectError("connection to server at \"::1\", port 12345 failed: refused").sqlState
                == .cannotConnect)
        #expect(LibpqText.connectError("").sqlState == .cannotConnect)
    }

    @Test func textsInsideConnectionStringsAreQuoted() {
        #expect(ConnectionTargets.text(of: ["host": #"a'b\c"#]) == #"host='a\'b\\c'"#)
    }

    @Test func parametersThatCannotBeSentAreRefusedHere() {
        var parameters = Parameters()
        // Its size is enough: such a value is not copied.
        parameters.append(repeatElement(0, count: Parameters.maximumLength), .text)
        #expect(parameters.refusal?.sqlState == .limitExceeded)
        #expect(parameters.refusal?.outcome == .notExecuted)
        parameters.removeAll()
        #expect(parameters.refusal == nil && parameters.count == 0 && parameters.byteCount == 0)
    }

    @Test("migrations must ascend; a checksum follows the text")
    func migrations() {
        #expect(throws: MigrationError.unordered(version: 1)) {
            try Migrator([Migration(version: 2, name: "b", sql: ""), Migration(version: 1, name: "a", sql: "")])
        }
        #expect(throws: MigrationError.unordered(version: 0)) {
            try Migrator([Migration(version: 0, name: "", sql: "")])
        }
        #expect(Migration(version: 1, name: "", sql: "").checksum == "cbf29ce484222325")
        #expect(Migration(version: 1, name: "", sql: "a").checksum == "af63dc4c8601ec8c")
    }
}
