import Canvas
import OperatorTerminal
import Testing
import TouchSyncClientCore

@testable import OperatorDaemon

@Suite struct TailMachineTests {
    private var machine = TailMachine(room: "r")

    /// What a message of the server leads to, each as one line.
    private mutating func receive(_ text: String) -> [String] {
        guard let packet = ServerPacket(text: text) else { return ["unreadable"] }
        return self.machine.received(packet).map { event in
            switch event {
            case .joined(let seq, let elements): "joined \(seq) \(elements)"
            case .update(let update): "#\(update.seq) \(update.userId) \(ChangeWords.text(of: update.changes))"
            case .missed(let after, let last): "missed \(after) \(last)"
            case .historyReplaced(let seq): "replaced \(seq)"
            case .preview(let preview): "\(preview.userId) \(ChangeWords.text(of: preview))"
            }
        }
    }

    private static func element(x: Int, rotation: Int = 0) -> String {
        #"{"id":"a","type":"note","positionX":\#(x),"positionY":5,"rotation":\#(rotation),"scaleX":1,"scaleY":1}"#
    }

    private mutating func join(seq: Int = 4, epoch: String = "e") -> [String] {
        self.receive(
            #"430[{"ok":true,"roomId":"r","epoch":"\#(epoch)","seq":\#(seq),"recovered":false,"elements":[\#(Self.element(x: 1))]}]"#
        )
    }

    private mutating func transform(seq: Int, x: Int, rotation: Int = 0, room: String = "r") -> [String] {
        self.receive(
            #"42["element:transformed",{"roomId":"\#(room)","seq":\#(seq),"userId":"ada","element":\#(Self.element(x: x, rotation: rotation))}]"#
        )
    }

    @Test mutating func updatesFollowTheJoin() {
        #expect(self.transform(seq: 4, x: 9) == [])
        #expect(self.join() == ["joined 4 1"])
        #expect(self.transform(seq: 5, x: 13, rotation: 45) == ["#5 ada a moved by +12, 0, rotated to 45°"])
        // Once is enough, and other rooms are others' business.
        #expect(self.transform(seq: 5, x: 13) == [] && self.transform(seq: 6, x: 1, room: "q") == [])
    }

    @Test mutating func aResumedJoinBringsExactlyWhatWasMissed() {
        _ = self.join()
        let updates = [5, 6].map { seq in
            #"{"event":"element:transformed","seq":\#(seq),"data":{"roomId":"r","seq":\#(seq),"userId":"ben","element":\#(Self.element(x: seq))}}"#
        }
        let answer =
            #"431[{"ok":true,"roomId":"r","epoch":"e","seq":6,"recovered":true,"updates":[\#(updates.joined(separator: ","))]}]"#
        #expect(self.receive(answer) == ["#5 ben a moved by +4, 0", "#6 ben a moved by +1, 0"])
    }

    @Test mutating func aWholeRoomInsteadLeavesAHoleToBeFilled() {
        _ = self.join()
        #expect(self.join(seq: 9) == ["missed 4 9"])
        #expect(self.transform(seq: 12, x: 2) == ["missed 9 11", "#12 ada a moved by +1, 0"])
        #expect(self.join(seq: 12) == [] && self.join(seq: 3, epoch: "f") == ["replaced 3"])
    }

    @Test mutating func partsAreWaitedFor() {
        #expect(
            self.receive(
                #"430[{"ok":true,"roomId":"r","epoch":"e","seq":4,"recovered":false,"parts":1,"elements":[]}]"#) == [])
        #expect(
            self.receive(
                #"42["room:elements",{"roomId":"r","part":1,"parts":1,"elements":[\#(Self.element(x: 1))]}]"#)
                == ["joined 4 1"])
    }

    @Test mutating func previewsSayWhereTo() {
        _ = self.join()
        let preview =
            #"42["element:transforming",{"roomId":"r","elementId":"a","userId":"ben","transform":{"rotation":12.5},"positionX":3,"positionY":4}]"#
        #expect(self.receive(preview) == ["ben a moving to 3, 4, rotation 12.5°"])
    }
}

@Suite struct ChangeWordsTests {
    private static func element(_ id: String = "a", _ change: (inout Element) -> Void = { _ in }) -> Element {
        var element = Element(id: id, type: "note", createdBy: "ada")
        change(&element)
        return element
    }

    private static func words(_ change: (inout Element) -> Void) -> String {
        ChangeWords.text(of: [.init(id: "a", before: self.element(), after: self.element("a", change))])
    }

    @Test func eachPartHasItsWords() {
        #expect(
            Self.words {
                $0.positionX = -3
                $0.positionY = 0.125
            } == "a moved by -3, +0.125")
        #expect(
            Self.words {
                $0.scaleX = 1.5
                $0.scaleY = 1.5
            } == "a scaled to 1.5")
        #expect(
            Self.words {
                $0.scaleX = -1
                $0.originalWidth = 80
            } == "a scaled to -1 × 1, resized to 80 × 100")
        #expect(
            Self.words {
                $0.locked = true
                $0.zIndex = 3
            } == "a locked, zIndex 3")
        #expect(Self.words { $0.constraints = Constraints() } == "a other constraints")
        #expect(Self.words { $0.extra = [ExtraField(name: "content", json: Array("1".utf8))] } == "a content changed")
        #expect(Self.words { _ in } == "a as it was")
    }

    @Test func createdAndDeleted() {
        #expect(ChangeWords.text(of: [.init(id: "a", before: nil, after: Self.element())]) == "a created: note at 0, 0")
        #expect(ChangeWords.text(of: [.init(id: "a", before: Self.element(), after: nil)]) == "a deleted")
    }

    @Test func aGroupThatChangedAlikeIsOne() {
        let moved = (1...5).map { number in
            TailUpdate.Change(
                id: "e\(number)", before: Self.element("e\(number)"),
                after: Self.element("e\(number)") { $0.positionX += 7 })
        }
        #expect(ChangeWords.text(of: moved) == "5 elements (e1, e2, e3, …) moved by +7, 0")
        let mixed = moved.prefix(3) + [.init(id: "z", before: Self.element("z"), after: nil)]
        #expect(
            ChangeWords.text(of: Array(mixed))
                == "e1 moved by +7, 0; e2 moved by +7, 0; e3 moved by +7, 0; 1 more")
    }

    @Test func linesAreForPeopleOrForScripts() {
        let update = TailUpdate(
            seq: 42, event: "element:deleted", userId: "a\u{1B}da", cause: "undo",
            changes: [.init(id: "n\n1", before: nil, after: nil)])
        let text = TailLines(room: "r", isJSON: false, style: .plain)
        #expect(
            text.line(of: update, time: "2026-01-31T12:03:44.123Z")
                == "12:03:44.123    #42  a·da          element:deleted       n·1 deleted (undo)\n")
        let json = TailLines(room: "r", isJSON: true, style: .plain)
        #expect(
            json.line(of: update, time: "2026-01-31T12:03:44.123Z")
                == #"{"type":"update","roomId":"r","seq":42,"time":"2026-01-31T12:03:44.123Z","userId":"a\u001bda","event":"element:deleted","cause":"undo","changes":[{"elementId":"n\n1","what":"deleted"}]}"#
                + "\n")
    }
}
