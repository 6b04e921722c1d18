import Canvas
import JSONBytes
import Testing

@testable import OperatorDaemon

@Suite struct RoomFileTests {
    private static let header = #"{"touchsyncRoom":1,"roomId":"r","epoch":"e","seq":9,"elements":N}"#

    private static func element(_ id: String, parent: String? = nil) -> Element {
        var element = Element(id: id, type: "note", createdBy: "ann")
        element.updatedBy = "bob"
        element.rev = 5
        element.locked = true
        element.snapDegrees = 15
        element.bounds = Bounds(x: -5, y: 0, width: 10, height: 10)
        // Set later, so that they moved nothing.
        var constraints = Constraints()
        (constraints.rotation, constraints.scale) = (90...180, 2...3)
        constraints.grid = Constraints.Grid(x: 7, offsetX: 2)
        element.constraints = constraints
        element.extra = [ExtraField(name: "own", json: Array(#"{"é":[1.50]}"#.utf8))]
        element.parentId = parent
        if parent != nil { element.space = .normalized }
        return element
    }

    private static func json(_ element: Element) -> String {
        var writer = JSONWriter()
        element.encode(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A file with these lines behind a header that counts them.
    private static func file(_ lines: [String]) -> [UInt8] {
        Array(([Self.header.replacing("N", with: "\(lines.count)")] + lines).map { $0 + "\n" }.joined().utf8)
    }

    private static func failure(_ text: [UInt8]) -> String? {
        do throws(OperatorFailure) {
            _ = try RoomFile(text)
            return nil
        } catch { return error.description }
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let elements = [Self.element("b", parent: "z"), Self.element("z"), Self.element("a")]
        let file = RoomFile(room: "r", epoch: "e", seq: 17, elements: elements)
        #expect(file.elements.map(\.id) == ["a", "z", "b"])
        #expect(try RoomFile(file.text) == file)
        let lines = file.text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        #expect(lines.first == #"{"touchsyncRoom":1,"roomId":"r","epoch":"e","seq":17,"elements":3}"#)
        #expect(lines.dropFirst().first == Self.json(Self.element("a")))
    }

    @Test func anEmptyRoomIsAHeader() throws {
        let file = RoomFile(room: "r", epoch: "e", seq: 2, elements: [])
        #expect(try RoomFile(file.text).elements.isEmpty)
        #expect(try RoomFile(file.text.dropLast()).elements.isEmpty)
    }

    @Test func theLineAtFaultIsNamed() {
        let good = Self.json(Self.element("a"))
        for (line, reason) in [
            ("", "it is no JSON"), ("[]", "it is no JSON object"), ("{}", "type: A type is required."),
            (#"{"type":"note","id":"b"}"#, "It lacks a field of an exported element."),
            (good, "id: It stands on a line before."),
            (Self.json(Self.element("b", parent: "x")), "parentId: No line before"),
            (good.replacing(#""id":"a""#, with: #""id":"""#), "id: "),
            (good.replacing(#""rev":5"#, with: #""rev":0"#), "rev: "),
            (good.replacing(#""createdBy":"ann""#, with: #""createdBy":"""#), "createdBy: "),
            (good.replacing(#""rotation":0"#, with: #""rotation":360"#), "rotation: "),
            (good.replacing(#""positionX":0"#, with: #""positionX":0.5"#), "positionX: "),
            (good.replacing(#""positionY":0"#, with: #""positionY":2e9"#), "positionY: "),
            (good.replacing(#""snapDegrees":15"#, with: #""snapDegrees":181"#), "snapDegrees: "),
            (
                good.replacing(#""scaleX":1"#, with: #""scaleX":0"#),
                "scaleX: It is out of range; the nearest value is 1e-06."
            ),
            (good.replacing(#""scaleY":1"#, with: #""scaleY":-0.0000001"#), "scaleY: "),
            (good.replacing(#""anchorX":0.5"#, with: #""anchorX":1001"#), "anchorX: "),
            (good.replacing(#""originalWidth":100"#, with: #""originalWidth":0.0001"#), "originalWidth: "),
            (good.replacing(#""max":180"#, with: #""max":800"#), "constraints.rotation.max: "),
            (good.replacing(#""width":10,"#, with: #""width":3e9,"#), "bounds.width: "),
            (good.replacing(#""width":100"#, with: #""width":90"#), "width: It is the original side times the scale"),
            (good.replacing(#""rev":5"#, with: #""rev":9007199254740992"#), "rev: "),
            (good.replacing(#""own""#, with: #""\u0000""#), "it is no JSON"),
        ] {
            let failure = Self.failure(Self.file([good, line, good]))
            #expect(failure?.hasPrefix("line 3: \(reason)") == true, "\(line): \(failure ?? "accepted")")
        }
    }

    @Test func annotationsHaveNoAnnotations() {
        let lines = [("a", nil), ("b", "a"), ("c", "b")].map { Self.json(Self.element($0, parent: $1)) }
        #expect(Self.failure(Self.file(lines))?.hasPrefix("line 4: parentId: ") == true)
    }

    @Test func theHeaderIsCheckedFirst() {
        let good = Self.json(Self.element("a"))
        for text in ["", "\n", "x\n", good + "\n", Self.header.replacing("1", with: "2").replacing("N", with: "0")] {
            #expect(Self.failure(Array(text.utf8))?.hasPrefix("line 1: ") == true, "\(text)")
        }
        for count in [0, 2] {
            let text = Self.header.replacing("N", with: "\(count)") + "\n" + good
            #expect(Self.failure(Array(text.utf8)) == "line 1: it announces \(count) elements, but 1 follow")
        }
    }
}

@Suite struct CommitSizesTests {
    private static func elements(_ count: Int, bytes: Int = 0) -> [Element] {
        (0..<count).map { index in
            var element = Element(id: "\(index)", type: "note", createdBy: "ann")
            if bytes > 0 {
                let text = "\"" + String(repeating: "x", count: bytes) + "\""
                element.extra = [ExtraField(name: "own", json: Array(text.utf8))]
            }
            return element
        }
    }

    @Test func aCommitHasFiveHundredElementsAtMost() {
        #expect(CommitSizes.runs(of: []).isEmpty)
        for (count, runs) in [(1, [1]), (500, [500]), (501, [500, 1]), (1200, [500, 500, 200])] {
            let divided = CommitSizes.runs(of: Self.elements(count))
            #expect(divided.map(\.count) == runs)
            #expect(divided.joined().map(\.id) == Self.elements(count).map(\.id))
        }
    }

    @Test func aCommitHasAQuarterOfAMebibyteAtMost() {
        let runs = CommitSizes.runs(of: Self.elements(100, bytes: 8000))
        #expect(runs.map(\.count) == [31, 31, 31, 7])
        #expect(CommitSizes.runs(of: Self.elements(3, bytes: 300_000)).map(\.count) == [1, 1, 1])
    }
}
