import JSONBytes
import Testing
import Wire

@testable import FanoutCore

/// What stands in a page of a room's history.
@Suite struct HistoryPageTests {
    private static func entry(_ seq: UInt64, bytes: Int = 0) -> HistoryEntry {
        HistoryEntry(
            seq: seq, at: "", event: "", user: "", sid: "", number: 0,
            changes: [HistoryEntry.Change(element: "", before: [], after: Array(repeating: 0, count: bytes))])
    }

    private static func changes(_ before: String?, _ after: String?) -> [[String]] {
        var document = JSONDocument()
        return [HistoryEntry.Change](
            before: before.map { Array($0.utf8) }, after: after.map { Array($0.utf8) }, with: &document
        ).map {
            [$0.element.text, String(decoding: $0.before, as: UTF8.self), String(decoding: $0.after, as: UTF8.self)]
        }
    }

    // MARK: Changes

    @Test func anElementIsShownBeforeAndAfter() {
        #expect(
            Self.changes(#"{"id":"a","x":1}"#, #"{"id":"a","x":2}"#) == [
                ["a", #"{"id":"a","x":1}"#, #"{"id":"a","x":2}"#]
            ])
        #expect(Self.changes(nil, #"{"id":"a"}"#) == [["a", "", #"{"id":"a"}"#]])
    }

    @Test func aDeletionHasNothingAfterwards() {
        #expect(
            Self.changes(#"[{"id":"a"},{"id":"b"}]"#, nil) == [["a", #"{"id":"a"}"#, ""], ["b", #"{"id":"b"}"#, ""]])
    }

    @Test func severalElementsAreMatchedByTheirIds() {
        #expect(
            Self.changes(
                #"[{"id":"b","x":1},{"id":"c"},{"id":"a","x":1}]"#, #"[{"id":"a","x":2}, {"id":"b"}, {"id":"n"}]"#)
                == [
                    ["a", #"{"id":"a","x":1}"#, #"{"id":"a","x":2}"#], ["b", #"{"id":"b","x":1}"#, #"{"id":"b"}"#],
                    ["n", "", #"{"id":"n"}"#], ["c", #"{"id":"c"}"#, ""],
                ])
    }

    @Test func anElementAndAnArrayMayFaceEachOther() {
        #expect(Self.changes(#"{"id":"a"}"#, #"[{"id":"a","x":2}]"#) == [["a", #"{"id":"a"}"#, #"{"id":"a","x":2}"#]])
    }

    @Test(arguments: ["7", "null", "[", "{}", "[7,{}]", #"{"id":7}"#, ""])
    func whatIsNoElementIsLeftOut(text: String) {
        #expect(Self.changes(text, nil).isEmpty && Self.changes(nil, text).isEmpty)
    }

    // MARK: Pages

    @Test func aRoomThatWasNeverUsedHasNoPage() {
        let refusal = #expect(throws: Refusal.self) { try RoomHistory(last: 0).page(limits: FanoutLimits()) }
        #expect(refusal?.code == .notFound && refusal?.field == "roomId")
    }

    @Test func thePageBehindTheLastHasNoNext() throws {
        let entries = [Self.entry(3), Self.entry(4)]
        let limits = FanoutLimits()
        #expect(try RoomHistory(last: 4, oldest: 1, entries: entries).page(limits: limits).next == nil)
        #expect(try RoomHistory(last: 5, oldest: 1, entries: entries).page(limits: limits).next == 4)
        #expect(try RoomHistory(last: 5, entries: []).page(limits: limits).next == nil)
    }

    @Test func aPageEndsBeforeTheEntryThatWouldBeTooMuch() throws {
        var limits = FanoutLimits()
        limits.historyBytes = 3000
        let history = RoomHistory(last: 4, oldest: 1, entries: (1...4).map { Self.entry($0, bytes: 1000) })
        let page = try history.page(limits: limits)
        #expect(page.entries.map(\.seq) == [1, 2] && page.next == 2 && page.oldest == 1)
    }

    @Test func anEntryThatIsTooMuchForAPageStandsAlone() throws {
        var limits = FanoutLimits()
        limits.historyBytes = 3000
        let history = RoomHistory(last: 2, entries: [Self.entry(1, bytes: 5000), Self.entry(2)])
        let page = try history.page(limits: limits)
        #expect(page.entries.map(\.seq) == [1] && page.next == 1)
    }

    @Test func anEntryThatNoLinkCarriesIsRefusedWithTheWayOn() {
        var limits = FanoutLimits()
        limits.replyBytes = 3000
        let history = RoomHistory(last: 8, entries: [Self.entry(7, bytes: 5000), Self.entry(8)])
        let refusal = #expect(throws: Refusal.self) { try history.page(limits: limits) }
        #expect(refusal?.code == .tooLarge && refusal?.message.contains("Update 7 ") == true)
    }
}

/// How reads of histories go through a fan-out.
@Suite struct HistoryReadTests {
    @Test func aHistoryIsReadWithoutTheRoom() {
        var scene = Scene()
        scene.database.commit()
        scene.readHistory("r", request: 9, after: 0, limit: 50)
        #expect(scene.asked() == [.history("r", after: 0, limit: 50)] && scene.fanout.rooms.count == 0)
        scene.answer()
        let replies = scene.taken(by: Scene.g1).histories
        #expect(replies.map(\.request) == [9])
        #expect(replies.compactMap { try? $0.outcome.get().entries.map(\.seq) } == [[1]])
    }

    @Test func oneIsReadAtATimeInTheOrderOfArrival() {
        var scene = Scene()
        for request in UInt64(1)...3 {
            scene.readHistory(Identifier("r\(request)"), request: request, from: request == 2 ? Scene.g2 : Scene.g1)
        }
        #expect(scene.asked() == [.history("r1", after: 0, limit: 50)] && scene.fanout.historyReadCount == 3)
        scene.answer(with: .history(RoomHistory(last: 1)))
        #expect(scene.asked() == [.history("r2", after: 0, limit: 50)])
        #expect(scene.taken(by: Scene.g1).histories.map(\.request) == [1])
        scene.answer(with: .failed)
        #expect(scene.asked() == [.history("r3", after: 0, limit: 50)])
        let failed = scene.taken(by: Scene.g2).histories
        #expect(failed.map { $0.refusal?.code } == [.unavailable])
        scene.answer(with: .history(RoomHistory(last: 0)))
        #expect(scene.taken(by: Scene.g1).histories.map { $0.refusal?.code } == [.notFound])
        #expect(scene.fanout.historyReadCount == 0)
    }

    @Test func readsBeyondTheBoundAreRefused() {
        var limits = FanoutLimits()
        limits.historyReads = 2
        var scene = Scene(limits: limits)
        for request in UInt64(1)...3 { scene.readHistory("r", request: request) }
        let refused = scene.taken(by: Scene.g1).histories
        #expect(refused.map(\.request) == [3] && refused.first?.refusal?.code == .unavailable)
        #expect((refused.first?.refusal?.retryAfterMs ?? 0) > 0)
    }

    @Test func aReadWhoseTurnComesTooLateIsRefused() {
        var scene = Scene()
        scene.readHistory("r", request: 1)
        scene.readHistory("r", request: 2)
        scene.pass(6000)
        scene.readHistory("r", request: 3, after: 1)
        scene.answer(scene.asked().firstIndex(of: .history("r", after: 0, limit: 50)) ?? 0, with: .failed)
        #expect(scene.taken(by: Scene.g1).histories.map(\.request) == [1, 2])
        #expect(scene.asked().contains(.history("r", after: 1, limit: 50)))
    }

    @Test func nothingIsAskedBeforeTheDatabaseWasReached() {
        var scene = Scene(isReady: false)
        scene.readHistory("r", request: 1)
        #expect(scene.asked().isEmpty)
        #expect(scene.taken(by: Scene.g1).histories.map { $0.refusal?.code } == [.unavailable])
    }
}

extension HistoryReply {
    fileprivate var refusal: Refusal? { self.outcome.failure }
}
