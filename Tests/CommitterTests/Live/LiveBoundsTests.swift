import Canvas
import CommitterCore
import CommitterDaemon
import PipelineTestKit
import Postgres
import Testing
import Wire

/// What the constraints of the tables would refuse is refused before, or adjusted: a commit that a committer applies
/// can be stored.
@Suite(.timeLimit(.minutes(2))) struct LiveBoundsTests {
    private let tables: LiveTables

    init() throws { self.tables = try LiveTables() }

    /// The answer to a commit that only the database found fault with.
    private static let stopgap = "The database cannot store the commit."

    private func run(_ commits: [Commit]) throws -> [Refusal?] {
        var ledger = ledger()
        ledger.admit(commits)
        return try ledger.run(on: self.tables).refusals
    }

    private static func quoted(_ character: String, _ count: Int) -> String {
        String(repeating: character, count: count)
    }

    @Test func longestNamesCanBeStored() throws {
        let id = Identifier(Self.quoted("\"", 128))
        let user = Identifier(Self.quoted("\\", 128))
        let type = Self.quoted(#"\u0001"#, 32)
        var group = transform(id, x: 1)
        group.undo = .group(Identifier(Self.quoted("\u{1}", UndoPolicy.longestGroup)))
        let commits = [
            commit(1, create(id, #"{"type":"\#(type)"}"#), user: user), commit(2, group, user: user, gesture: .max),
            commit(3, transform(id, x: .infinity), user: user),
        ]
        #expect(try self.run(commits).allSatisfy { $0?.message != Self.stopgap })
        #expect(try self.tables.number("SELECT count(*) FROM elements") == 1)
        #expect(try self.tables.number("SELECT octet_length(undo_group) FROM undo_stacks") == 64)
        let session = Identifier(Self.quoted("s", 15) + ".4294967295")
        #expect(try self.run([commit(4, EncodedEdit(UndoEdit()), session: session, user: user)]) == [nil])
    }

    @Test(arguments: ["x", #"\u0001"#, #"\""#, "ü"])
    func appFieldsCountAsTheyAreStored(character: String) throws {
        let stored = character == "ü" ? 2 : character == #"\u0001"# ? 6 : character == #"\""# ? 2 : 1
        for (number, over) in [(1, 0), (2, 1)] as [(UInt64, Int)] {
            let name = Self.quoted(character, (CanvasLimits.extraBytes - 1) / stored + over)
            let refusals = try self.run([
                commit(number, create(Identifier("e\(number)"), #"{"type":"note","\#(name)":1}"#)),
                commit(number, create(Identifier("other\(number)")), session: "s2"),
            ])
            #expect(refusals.map { $0?.code } == (over == 0 ? [nil, nil] : [.tooLarge, nil]))
            #expect(refusals[0]?.field == (over == 0 ? nil : "element"))
        }
        let manyFields = (0..<63).map { #""\#(character)\#($0)":"\#(Self.quoted("y", 100))""# }.joined(separator: ",")
        #expect(try self.run([commit(3, create("many", #"{"type":"note",\#(manyFields)}"#))]) == [nil])
    }

    @Test func refusalThatNamesALongFieldCanBeStored() throws {
        let refusal = Refusal(.invalid, "A text cannot contain U+0000.", field: "set." + Self.quoted("\u{1}", 8000))
        #expect(refusal.field?.utf8.count == Refusal.longestField)
        let faulty = commit(1, EncodedEdit(refusal: refusal, bodyHash: 7))
        #expect(try self.run([faulty, commit(2, create("a"))]) == [refusal, nil])
        #expect(try self.run([faulty]) == [refusal])
    }

    @Test(arguments: UInt64(0)..<4)
    func anyNumbersCanBeStored(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var commits = [commit(1, create("p", #"{"type":"photo"}"#))]
        for number in 2...150 as ClosedRange<UInt64> {
            let target = Identifier("e\(Int.random(in: 0..<20, using: &random))")
            commits.append(commit(number, Self.extreme(target, &random)))
        }
        let refusals = try self.run(commits)
        #expect(refusals.count == commits.count)
        for (commit, refusal) in zip(commits, refusals) where refusal?.message == Self.stopgap {
            Issue.record("the tables refuse \(commit.edit)")
        }
        #expect(refusals.count { $0 == nil } > 20)
    }

    private static func extreme(_ id: Identifier, _ random: inout SplitMix64) -> EncodedEdit {
        func number() -> String {
            let numbers = [
                "0", "-0", "0.5", "-1.5", "1e-320", "5e-324", "1e308", "-1e308", "1e9", "-1e9", "2e9",
                "359.99999999999997",
                "360", "-360", "1e-7", "181", "0.001", "1e25",
            ]
            return numbers.randomElement(using: &random) ?? "0"
        }
        func members(_ names: [String]) -> String {
            names.filter { _ in random.chance(50) }.map { #","\#($0)":\#(number())"# }.joined()
        }
        let bounds = #","bounds":{"x":\#(number()),"y":\#(number()),"width":\#(number()),"height":\#(number())}"#
        let options = members(["fontSize", "zIndex", "snapDegrees"]) + (random.chance(30) ? bounds : "")
        let place = random.chance(30) ? #","space":"normalized","parentId":"p""# : ""
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let type = ["note", "photo", "text", "audio", "video", "x"].randomElement(using: &random) ?? "x"
            let geometry = members([
                "positionX", "positionY", "rotation", "scaleX", "scaleY", "width", "height", "originalWidth",
                "originalHeight", "anchorX", "anchorY",
            ])
            return create(id, #"{"type":"\#(type)"\#(place)\#(geometry)\#(options)}"#)
        case 1:
            let sizes = members(["originalWidth", "originalHeight"])
            return random.chance(50)
                ? update(id, #"{"a":1\#(options)\#(sizes)}"#)
                : update(id, #"{"a":null,"zIndex":null,"bounds":null,"fontSize":null\#(sizes)}"#)
        case 2: return EncodedEdit(UndoEdit())
        default:
            return transform(
                id, x: Double(number()), rotation: Double(number()), scaleX: Double(number()))
        }
    }
}
