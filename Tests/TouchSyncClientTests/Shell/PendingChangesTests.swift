import Canvas
import Testing
import TouchSyncClientCore

@testable import TouchSyncClient

/// What a slow consumer gets.
@Suite struct PendingChangesTests {
    @Test func elementsAreTheUnion() {
        var pending = PendingChanges()
        for change in [RoomChange.elements(["a", "b"]), .members, .elements(["b", "c"]), .moving(["a"])] {
            pending.add(change)
        }
        for id in ["b", "a", "b"] { pending.add(.still([id])) }
        #expect(Self.all(&pending) == [.elements(["a", "b", "c"]), .members, .moving(["a"]), .still(["b", "a"])])
        pending.add(.elements(["a"]))
        #expect(Self.all(&pending) == [.elements(["a"])], "what was told is told again when it changes again")
    }

    @Test func idsAreComparedByTheirBytes() {
        var pending = PendingChanges()
        pending.add(.elements(["\u{E9}", "e\u{301}"]))
        guard case .elements(let ids) = pending.next() else {
            Issue.record("no elements")
            return
        }
        #expect(ids.map { Array($0.utf8) } == [Array("\u{E9}".utf8), Array("e\u{301}".utf8)])
    }

    @Test func tooManyElementsAreAll() {
        var pending = PendingChanges()
        for number in 0...PendingChanges.mostElements { pending.add(.elements(["\(number)"])) }
        pending.add(.elements(["a"]))
        #expect(Self.all(&pending) == [.allElements])
        pending.add(.elements(["a"]))
        #expect(Self.all(&pending) == [.elements(["a"])])
    }

    @Test func theLatestCursorOfEachConnectionCounts() {
        var pending = PendingChanges()
        let selection = AwarenessShift.selection(["a"])
        pending.add(.awareness(userId: "bob", sid: "1", .cursor(Point(x: 1, y: 1))))
        pending.add(.awareness(userId: "bob", sid: "1", selection))
        pending.add(.awareness(userId: "bob", sid: "1", .cursor(nil)))
        pending.add(.awareness(userId: "bob", sid: "2", .cursor(nil)))
        #expect(
            Self.all(&pending) == [
                .awareness(userId: "bob", sid: "1", .cursor(nil)), .awareness(userId: "bob", sid: "1", selection),
                .awareness(userId: "bob", sid: "2", .cursor(nil)),
            ])
        for number in 0...PendingChanges.mostShifts {
            pending.add(.awareness(userId: "u", sid: "\(number)", .cursor(nil)))
        }
        let all = Self.all(&pending)
        #expect(all.count == PendingChanges.mostShifts + 1 && all.contains(.members))
    }

    @Test func cursorsAreToldInTheirOrderWhileOthersCome() {
        var pending = PendingChanges()
        for sid in ["1", "2"] { pending.add(Self.cursor(nil, of: sid)) }
        #expect(pending.next() == Self.cursor(nil, of: "1"))
        let point = Point(x: 1, y: 1)
        for sid in ["3", "1", "2"] { pending.add(Self.cursor(point, of: sid)) }
        #expect(Self.all(&pending) == ["2", "3", "1"].map { Self.cursor(point, of: $0) })
    }

    /// A cursor costs the same however many others wait.
    @Test(.timeLimit(.minutes(1))) func manyCursorsWaitInLinearTime() {
        var pending = PendingChanges()
        for number in 0..<1_000_000 {
            pending.add(Self.cursor(nil, of: "\(number % PendingChanges.mostShifts)"))
        }
        #expect(Self.all(&pending).count == PendingChanges.mostShifts)
    }

    @Test func refusalsAreTheNewest() {
        var pending = PendingChanges()
        for number in 0..<100 { pending.add(.refusal(ClientError(code: .other("\(number)"), message: ""))) }
        let codes = Self.all(&pending).compactMap {
            if case .refusal(let error) = $0 { error.code.rawValue } else { nil }
        }
        #expect(codes == (36..<100).map { "\($0)" })
    }

    @Test func signalsAreTheNewestAndAllOfThem() throws {
        var pending = PendingChanges()
        func signal(_ number: Int) throws -> RoomChange {
            let text = #"{"userId":"u","sid":"s","name":"\#(number)"}"#
            let data = try #require(JSONObject(text: Array(text.utf8)))
            return .signal(try #require(MemberSignal(data)))
        }
        for number in 0..<300 { pending.add(try signal(number)) }
        #expect(try Self.all(&pending) == (44..<300).map { try signal($0) })
    }

    @Test func thatElementsWereReplacedIsNotForgotten() {
        var pending = PendingChanges()
        for recovered in [false, true] { pending.add(.joined(recovered: recovered)) }
        #expect(Self.all(&pending) == [.joined(recovered: false)])
    }

    @Test func whatCameBeforeTheRoomWasLeftIsNotAboutTheNextOne() {
        var pending = PendingChanges()
        let refusal = RoomChange.refusal(ClientError(code: .forbidden, message: "no"))
        for change in [RoomChange.elements(["a"]), .joined(recovered: false), refusal, .members, .left] {
            pending.add(change)
        }
        for change in [RoomChange.joined(recovered: false), .elements(["b"])] { pending.add(change) }
        #expect(Self.all(&pending) == [refusal, .left, .joined(recovered: false), .elements(["b"])])
    }

    private static func cursor(_ point: Point?, of sid: String) -> RoomChange {
        .awareness(userId: "u", sid: sid, .cursor(point))
    }

    private static func all(_ pending: inout PendingChanges) -> [RoomChange] {
        var all: [RoomChange] = []
        while let change = pending.next() { all.append(change) }
        return all
    }
}
