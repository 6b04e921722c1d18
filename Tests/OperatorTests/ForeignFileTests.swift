import Canvas
import Foundation
import JSONBytes
import Testing

@testable import OperatorDaemon

/// The files in Tests/Import, by which the page of the canvas is tested, too.
@Suite struct ForeignFileTests {
    private static let folder =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Import/"

    private static func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: Self.folder + name)))
    }

    private static func value(_ text: [UInt8]) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text)) as? NSDictionary)
    }

    @Test(arguments: ["diagram.excalidraw", "board.tldr"])
    func itHasTheElementsThatAreExpectedOfIt(_ name: String) throws {
        let file = try #require(ForeignFile(try Self.bytes(name)))
        let expected = try Self.value(try Self.bytes("\(name).json"))
        let elements = try #require(expected["elements"] as? [NSDictionary])
        let found = try file.creations().map(Self.value)
        #expect(found.count == elements.count)
        for (one, other) in zip(found, elements) { #expect(one == other) }
        let left = Dictionary(file.left.map { ($0.what, $0.count) }) { $1 }
        #expect(left == expected["left"] as? [String: Int])
    }

    @Test(arguments: ["diagram.excalidraw", "board.tldr"])
    func itsElementsCanBeStored(_ name: String) throws {
        let file = try #require(ForeignFile(try Self.bytes(name)))
        let elements = try file.elements("p-", by: "operator")
        #expect(elements.count == file.creations().count)
        let ids = elements.map(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(elements.allSatisfy { $0.createdBy == "operator" })
        // What is written is read: arrows and groups name elements by their new names.
        let text = RoomFile(room: "r", epoch: "e", seq: 1, elements: elements).text
        #expect(try RoomFile(text).elements == elements)
        let ends = elements.filter { $0.type == "arrow" }.flatMap(\.extra)
            .filter { $0.name == "to" || $0.name == "from" }
        let tied = try ends.compactMap { try Self.value($0.json)["element"] as? String }
        #expect(!tied.isEmpty && tied.allSatisfy(Set(ids).contains))
    }

    @Test(arguments: ["", "[]", "{}", "null", #"{"type":"excalidraw"}"#, #"{"touchsyncRoom":1}"#, "{\"records\":1}"])
    func othersAreNone(_ text: String) {
        #expect(ForeignFile(Array(text.utf8)) == nil)
    }

    /// Whatever is in a file, it ends no process, and what comes out of it can be stored.
    @Test(arguments: ["diagram.excalidraw", "board.tldr"])
    func oddValuesAreDefaults(_ name: String) throws {
        let odd = ["null", "true", "-1", "1e308", #""""#, #""__proto__""#, #""\ud800""#, "[]", "{}", "[[]]", "[null]"]
        let text = String(decoding: try Self.bytes(name), as: UTF8.self)
        let values = text.matches(of: /[:,\[]\s*(-?\d+(?:\.\d+)?|"[^"]*"|\[\]|true|false|null)(?=\s*[,}\]])/)
        #expect(values.count > 200)
        var state: UInt64 = 7
        for round in 0..<300 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let value = values[Int(state >> 33) % values.count].output.1
            let spoilt = text.replacingCharacters(
                in: value.startIndex..<value.endIndex, with: odd[round % odd.count])
            guard let file = ForeignFile(Array(spoilt.utf8)) else { continue }
            let elements = try file.elements("p-", by: "operator")
            let written = RoomFile(room: "r", epoch: "e", seq: 1, elements: elements).text
            #expect(try RoomFile(written).elements.count == elements.count)
        }
    }
}
