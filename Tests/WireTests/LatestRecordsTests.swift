import Canvas
import Testing
import Wire

private func preview(
    _ element: Identifier = "a", room: Identifier = "r", by connection: UInt64 = 1, gesture: UInt64 = 1, x: Double?,
    y: Double? = nil, sid: Identifier = "s", after: UInt64 = 0, folded: UInt32 = 1, sinceLast: UInt32 = 16
) -> Preview {
    Preview(
        room: room, element: element, connection: connection, user: "u", sid: sid, gesture: gesture, after: after,
        folded: folded, sinceLast: sinceLast, fields: TransformFields(positionX: x, positionY: y))
}

private func update(
    _ elements: [Identifier], gesture: UInt64 = 3, room: Identifier = "r", isDeletion: Bool = false
) -> Update {
    Update(
        shard: 0, gseq: 1, room: room, seq: 1, event: isDeletion ? .deleted : .transformed, user: "u", sid: "s",
        number: 1,
        elements: elements.map {
            UpdatedElement(id: $0, json: isDeletion ? [] : Array("{}".utf8), gesture: gesture)
        })
}

@Suite struct ReplacedPreviewTests {
    private func replaced(_ older: Preview, by newer: Preview) -> Preview {
        var shown = older
        shown.replace(by: newer)
        return shown
    }

    /// Each is complete for its gesture, so nothing of the older one is needed.
    @Test func theNewerOneOfAGestureReplacesTheOlderOne() {
        let shown = self.replaced(preview(x: 1, y: 1, after: 5, folded: 2), by: preview(x: 2, after: 3, folded: 3))
        #expect(shown == preview(x: 2, after: 5, folded: 5, sinceLast: 32))
    }

    @Test func newerGestureReplacesFieldsAndKeepsCountAndTime() {
        let folded = self.replaced(
            preview(gesture: 1, x: 1, after: 7, folded: 2), by: preview(gesture: 2, x: nil, y: 2))
        #expect(folded == preview(gesture: 2, x: nil, y: 2, folded: 3, sinceLast: 32))
    }

    @Test func olderGestureIsOnlyCounted() {
        let folded = self.replaced(preview(gesture: 2, x: 1), by: preview(gesture: 1, x: 2, y: 2, after: 9))
        #expect(folded == preview(gesture: 2, x: 1, folded: 2, sinceLast: 32))
    }

    @Test func anotherSessionReplacesWhateverItsGesture() {
        let newer = preview(gesture: 1, x: nil, y: 2, sid: "s2")
        for gesture in [UInt64(1), 9] {
            let folded = self.replaced(preview(gesture: gesture, x: 1), by: newer)
            #expect(folded == preview(gesture: 1, x: nil, y: 2, sid: "s2", folded: 2, sinceLast: 32))
        }
    }

    @Test func countsDoNotOverflow() {
        #expect(self.replaced(preview(x: 1, folded: .max), by: preview(x: 2)).folded == .max)
    }

    /// Whatever is folded wherever on the way, a receiver gets the same sums and the same end.
    @Test(arguments: [UInt64](1...50))
    func sumsDoNotDependOnWhereFoldingHappens(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var gesture: UInt64 = 1
        let sent = (0..<100).map { step -> Preview in
            if Int.random(in: 0..<8, using: &random) == 0 { gesture += 1 }
            return preview(gesture: gesture, x: Bool.random(using: &random) ? Double(step) : nil, y: Double(step))
        }
        var stages = sent
        for _ in 0..<3 {
            var outbox = LatestRecords<Preview>()
            var received: [Preview] = []
            for preview in stages {
                outbox.insert(preview)
                if Bool.random(using: &random) { received += outbox.takeAll() }
            }
            stages = received + outbox.takeAll()
        }
        #expect(stages.count < sent.count)
        #expect(stages.reduce(0) { $0 + $1.folded } == 100)
        #expect(stages.reduce(0) { $0 + $1.sinceLast } == 1600)
        #expect(stages.last?.fields.positionY == 99 && stages.last?.gesture == gesture)
    }
}

@Suite struct EndedPreviewsTests {
    @Test func updateEndsItsSessionsGestureAndOlderOnes() {
        let ended = update(["a", "b"], gesture: 3).endedPreviews
        #expect(ended.map(\.element) == ["a", "b"])
        #expect(ended[0].includes(preview(gesture: 3, x: 1)))
        #expect(ended[0].includes(preview(gesture: 2, x: 1)))
        #expect(!ended[0].includes(preview(gesture: 4, x: 1)))
        #expect(!ended[0].includes(preview(gesture: 3, x: 1, sid: "s2")))
        #expect(!ended[0].includes(preview("b", gesture: 3, x: 1)))
        #expect(!ended[0].includes(preview(room: "q", gesture: 3, x: 1)))
    }

    @Test func updateWithoutGestureEndsNothing() {
        #expect(update(["a"], gesture: 0).endedPreviews.isEmpty)
    }

    @Test func deletionEndsEverybodysPreviews() {
        let ended = update(["a"], gesture: 0, isDeletion: true).endedPreviews
        #expect(ended.count == 1)
        #expect(ended[0].includes(preview(gesture: 9, x: 1, sid: "s2")))
        #expect(!ended[0].includes(preview("b", x: 1)))
    }

    @Test func endWithoutCommitEndsItsGesture() {
        let ended = GestureEnd(room: "r", element: "a", user: "u", sid: "s", gesture: 3).endedPreviews
        #expect(ended == update(["a"], gesture: 3).endedPreviews[0])
    }
}

@Suite struct LatestRecordsTests {
    @Test func foldedPreviewsOfARoomStandTogether() {
        let folded = LatestRecords<Preview>.folded([
            preview("a", x: 1), preview("b", room: "q", x: 2), preview("c", x: 3), preview("a", x: 4),
            preview("b", room: "q", x: 5), preview("a", by: 2, x: 6),
        ])
        #expect(folded.map(\.room) == ["r", "r", "r", "q"])
        #expect(folded.map(\.fields.positionX) == [3, 4, 6, 5])
        #expect(folded.map(\.folded) == [1, 2, 1, 2])
        #expect(folded.map(\.sinceLast) == [16, 32, 16, 32])
        #expect(LatestRecords<Preview>.folded([]).isEmpty)
    }

    @Test func removesWhatEndedByAnUpdateOfManyElements() {
        var latest = LatestRecords<Preview>()
        for element in ["a", "b", "c", "d"] as [Identifier] { latest.insert(preview(element, gesture: 3, x: 1)) }
        latest.insert(preview("c", by: 2, gesture: 9, x: 1, sid: "s2"))
        #expect(latest.remove(update(["d", "x", "c"], gesture: 3).endedPreviews) == 2)
        #expect(latest.remove(update(["c", "b"], gesture: 0, isDeletion: true).endedPreviews) == 2)
        #expect(latest.takeAll().map(\.element) == ["a"])
    }

    /// What its app sent together stays together, whoever else moves meanwhile.
    @Test func whatIsReplacedGoesToTheEnd() {
        var latest = LatestRecords<Preview>()
        for element in ["a", "b", "c"] as [Identifier] { latest.insert(preview(element, x: 1)) }
        latest.insert(preview("x", by: 2, x: 1))
        for element in ["b", "c", "d"] as [Identifier] { latest.insert(preview(element, x: 2)) }
        #expect(latest.count == 5)
        #expect(latest.takeAll().map(\.element) == ["a", "x", "b", "c", "d"])
    }

    /// A receiver that takes two of five in each turn gets all of them in turn, though all move all the time.
    @Test func whatWaitedLongestComesFirstForOneThatTakesAPart() {
        var latest = LatestRecords<Preview>()
        var taken: [Identifier] = []
        for turn in 0..<10 {
            for element in ["a", "b", "c", "d", "e"] as [Identifier] {
                latest.insert(preview(element, x: Double(turn)))
            }
            let waiting = latest.takeLongestWaiting()
            #expect(latest.isEmpty && waiting.count == 5)
            taken += waiting.prefix(2).map(\.element)
            for rest in waiting.dropFirst(2) { latest.insert(rest) }
        }
        #expect(taken.prefix(5) == ["a", "b", "c", "d", "e"])
        #expect(Set(taken).allSatisfy { element in (3...5).contains(taken.count { $0 == element }) })
    }

    /// Of each part of a session the latest counts, and what was shown of it before must be seen to go.
    @Test func theLatestAwarenessOfEachPartOfASessionWaits() {
        func shown(_ x: Double, sid: Identifier = "s", sinceLast: UInt32 = 16) -> Awareness {
            var shown = Awareness(
                room: "r", connection: 1, user: "u", sid: sid, sinceLast: sinceLast,
                value: .cursor(Point(x: x, y: 0)))
            shown.area = PreviewArea(Rect(x: x, y: 0, width: 1, height: 1))
            return shown
        }
        var latest = LatestRecords<Awareness>(capacity: 2)
        #expect(latest.insert(shown(1)) == .added && latest.insert(shown(2, sid: "t")) == .added)
        #expect(latest.insert(shown(3)) == .replaced && latest.insert(shown(4, sid: "v")) == .refused)
        var last = shown(3, sinceLast: 32)
        last.area = PreviewArea(Rect(x: 1, y: 0, width: 3, height: 1))
        #expect(latest.takeAll() == [shown(2, sid: "t"), last])
    }

    /// The container against a plain model: an array in the order in which the latest came, and one of the waiting keys.
    @Test(arguments: [UInt64](1...20), [12, 200])
    func behavesAsAPlainList(seed: UInt64, capacity: Int) {
        var random = SplitMix64(seed: seed)
        var latest = LatestRecords<Preview>(capacity: capacity)
        var model: [Preview] = []
        var waiting: [Preview.Key] = []
        for step in 0..<2000 {
            let next = preview(
                ["a", "b", "c", "d"].randomElement(using: &random) ?? "a",
                room: Bool.random(using: &random) ? "r" : "q",
                by: UInt64.random(in: 1...UInt64(capacity / 4), using: &random),
                gesture: UInt64.random(in: 1...5, using: &random), x: Double(step))
            let key = next.key
            let index = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<14:
                let insertion = latest.insert(next)
                if let index {
                    #expect(insertion == .replaced)
                    var latest = model.remove(at: index)
                    latest.replace(by: next)
                    model.append(latest)
                } else if model.count < capacity {
                    #expect(insertion == .added)
                    model.append(next)
                    waiting.removeAll { $0 == key }
                    waiting.append(key)
                } else {
                    #expect(insertion == .refused)
                }
            case 14..<17:
                let ended = update([next.element], gesture: next.gesture, room: next.room).endedPreviews
                let count = model.count
                model.removeAll { ended[0].includes($0) }
                #expect(latest.remove(ended) == count - model.count)
            case 17..<19:
                let count = index == nil ? 0 : 1
                #expect(latest.removeAll { $0.key == key } == count)
                if let index { model.remove(at: index) }
            default:
                guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
                if Bool.random(using: &random) {
                    #expect(latest.takeAll() == model)
                } else {
                    #expect(latest.takeLongestWaiting() == waiting.compactMap { key in model.first { $0.key == key } })
                }
                model = []
                waiting = []
            }
            #expect(latest.count == model.count && latest.isEmpty == model.isEmpty)
        }
        #expect(latest.takeAll() == model)
    }
}
