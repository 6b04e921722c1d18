import Canvas
import Foundation
import JSONBytes
import Testing

/// What else lists the fields of an element says the same as their table.
@Suite struct FieldTableTests {
    private static func contents(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The lines between the one that begins with some text and the next one that is another.
    private static func lines(of path: String, from first: String, to last: String) throws -> [String] {
        let lines = try Self.contents(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix(first) })
        let end = try #require(lines[start...].firstIndex { $0 == last })
        return Array(lines[(start + 1)..<end])
    }

    private static func number(_ value: Double?) -> String { text { value.encode(into: &$0) } }

    @Test func theJavaScriptClientHasTheSameTable() throws {
        let blank = Element(id: "", type: "", createdBy: "")
        let rows = ElementField.moving.map { field in
            let parts: [String?] = [
                "start: \(Self.number(blank[field]))",
                field.range.map { "range: [\(Self.number($0.lowerBound)), \(Self.number($0.upperBound))]" },
                field.isWhole ? "isWhole: true" : nil, field.isInTransform ? nil : "isBeside: true",
                field.isAngle ? "isAngle: true" : nil, field.isDeep ? "isDeep: true" : nil,
                field.omitted == nil ? nil : "isOptional: true",
            ]
            return "  \(field.name): { \(parts.compactMap(\.self).joined(separator: ", ")) },"
        }
        #expect(try Self.lines(of: "Shared/Client/web/touchsync.js", from: "const MOVING = {", to: "};") == rows)
    }

    @Test func theJavaScriptClientKnowsTheSameNames() throws {
        let text = try Self.contents("Shared/Client/web/touchsync.js")
        let envelope = ElementField.allCases.drop { $0 != .roomId }.map { "\"\($0.name)\"" }.joined(separator: ", ")
        #expect(text.contains("const ENVELOPE = [\(envelope)];"))
        let fields = try Self.lines(
            of: "Shared/Client/web/touchsync.js", from: "// MARK: Fields", to: "// MARK: Geometry"
        )
        .joined(separator: "\n")
        for field in ElementField.stored {
            #expect(fields.contains(try Regex("\\b\(field.name)(:|\")")), "\(field)")
        }
    }

    @Test func theAPIListsTheSameFields() throws {
        let rows = try Self.lines(
            of: "Services/Gateway/API.md", from: "| field | value | when created, it is |", to: ""
        ).dropFirst()
        let cells = rows.map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        let names = cells.flatMap { $0[0].matches(of: /`(\w+)`/).map { String($0.output.1) } }
        #expect(Set(names) == Set(ElementField.stored.map { "\($0.name)" }))
        #expect(names.count == ElementField.stored.count)
        let blank = Element(id: "", type: "", createdBy: "")
        for field in ElementField.moving {
            let row = try #require(cells.first { $0[0].contains("`\(field.name)`") })
            #expect(row[2] == Self.number(blank[field]), "\(field)")
        }
    }

    @Test func anElementLeavesOutOnlyWhatAnEmptyOneHas() {
        let blank = Element(id: "", type: "", createdBy: "")
        for field in ElementField.moving {
            if let omitted = field.omitted { #expect(omitted == blank[field], "\(field)") }
        }
    }

    /// What an app sends of each number is in the element, and in what it is made of.
    @Test func everyNumberIsReadAndWritten() throws {
        for field in ElementField.stored where [.moving, .side, .anchor, .option].contains(field.kind) {
            var element = Element(id: "a", type: "note", createdBy: "ada")
            element[field] = 0.5
            #expect(element[field] == 0.5, "Element, \(field)")
            #expect(text { element.encode(into: &$0) }.contains("\"\(field.name)\":0.5"), "\(field)")
            let sent = try json("{\"type\":\"note\",\"\(field.name)\":0.5}")
            let created = try NewElement(sent, path: "")
            #expect(text { created.encode(into: &$0) }.contains("\"\(field.name)\":0.5"), "NewElement, \(field)")
            if field.kind == .moving || field.kind == .anchor { continue }
            let changes = try ElementChanges(json("{\"\(field.name)\":0.5}"))
            let written = text { $0.object("set") { changes.encodeMembers(into: &$0) } }
            #expect(written.contains("\"\(field.name)\":0.5"), "ElementChanges, \(field)")
        }
    }

    @Test func appsInTypeScriptKnowTheSameNames() throws {
        let declared = try Self.contents("Shared/Client/types/touchsync.d.ts")
        for field in ElementField.stored { #expect(declared.contains(try Regex("\\b\(field.name)\\??:")), "\(field)") }
    }

    @Test func theMaskOnTheWireHasRoom() {
        // Its 16th bit says that other parts of a preview follow.
        #expect(TransformFields.Values.scalarCount == 16)
        #expect(ElementField.transform.count <= 15)
        #expect(ElementField.transform.map(\.slot) == Array(0..<ElementField.transform.count))
    }
}

extension ElementField {
    fileprivate var isWhole: Bool {
        if case .whole? = self.rule { true } else { false }
    }
}
