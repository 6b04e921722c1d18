import Canvas
import CommitterCore
import DatabaseTestKit
import PipelineTestKit
import Testing
import Wire

/// Undo over random histories of one user.
@Suite struct UndoPropertyTests {
    /// All that can be seen of the room: revisions and authors of changes apart.
    private typealias Picture = [Identifier: Element]

    /// A user at work in an empty room.
    private final class Walk {
        let database = TestDatabase()
        let bench: LedgerBench
        var random: SplitMix64
        private var number: UInt64 = 0
        private var created = 0

        init(seed: UInt64) {
            self.bench = LedgerBench(on: self.database)
            self.random = SplitMix64(seed: seed)
        }

        var picture: Picture {
            var picture: Picture = [:]
            for (key, stored) in self.database.tables.elements(of: "room") where !stored.isDeleted {
                var element = stored.element
                (element.rev, element.updatedBy) = (0, "")
                picture[key] = element
            }
            return picture
        }

        /// Commits; true when it was applied.
        @discardableResult func run(_ edit: EncodedEdit, _ undo: UndoPolicy = .entry) -> Bool {
            self.number += 1
            var edit = edit
            edit.undo = undo
            self.bench.admit(commit(self.number, edit))
            if self.random.chance(5) { self.bench.ledger.forget() }
            let settlement = self.bench.run()
            return settlement.refusals == [nil] && settlement.updates.count == 1
        }

        /// A random edit of an element that exists, or a new element.
        func edit() -> EncodedEdit {
            let ids = self.picture.keys.sorted()
            guard let id = ids.randomElement(using: &self.random), !self.random.chance(20) else {
                return self.creation()
            }
            switch Int.random(in: 0..<8, using: &self.random) {
            case 0: return .delete(element: id)
            case 1: return update(id, #"{"mine":\#(self.random.next() % 5),"zIndex":3,"locked":false}"#)
            case 6: return update(id, #"{"mine":null,"zIndex":null,"own\#(self.random.next() % 3)":1}"#)
            case 7: return update(id, #"{"originalWidth":\#(1 + self.random.next() % 300),"own1":null}"#)
            case 2: return EncodedEdit(PresetElement(element: id, preset: .flipX))
            case 3:
                var gesture = Gesture()
                gesture.rotation = Double.random(in: 0..<360, using: &self.random)
                gesture.scaleX = 1.1
                gesture.scaleY = 1.1
                gesture.anchor = Point(x: 0, y: 0.25)
                return EncodedEdit(GestureElement(element: id, gesture: gesture))
            case 4: return EncodedEdit(DeleteElements(Array(Set([id, ids[0]]))))
            default:
                let x = Double.random(in: -1000...1000, using: &self.random)
                return transform(id, x: x, rotation: x * 0.37, scaleX: 0.3 + x.magnitude / 500)
            }
        }

        private func creation() -> EncodedEdit {
            self.created += 1
            let photos = self.picture.values.filter { $0.type == "photo" }.map(\.id).sorted()
            if let parent = photos.randomElement(using: &self.random), self.random.chance(50) {
                return create(Identifier("e\(self.created)"), #"{"type":"text","parentId":"\#(parent)"}"#)
            }
            let type = self.random.chance(50) ? "photo" : "note"
            return create(Identifier("e\(self.created)"), #"{"type":"\#(type)","rotation":10,"mine":0}"#)
        }
    }

    @Test(arguments: UInt64(0)..<150)
    func undoingAndRedoingAllIsIdentity(seed: UInt64) {
        let walk = Walk(seed: seed)
        var pictures = [walk.picture]
        for _ in 0..<Int.random(in: 1...60, using: &walk.random) {
            let before = walk.picture
            if walk.run(walk.edit()), walk.picture != before { pictures.append(walk.picture) }
        }
        let count = Int.random(in: 1...pictures.count, using: &walk.random)
        var undone = 0
        for step in 1..<pictures.count where step < count {
            #expect(walk.run(EncodedEdit(UndoEdit())), "seed \(seed)")
            #expect(walk.picture == pictures[pictures.count - 1 - step], "seed \(seed), undo \(step)")
            undone += 1
        }
        for step in 0..<undone {
            #expect(walk.run(EncodedEdit(RedoEdit())), "seed \(seed)")
            #expect(walk.picture == pictures[pictures.count - undone + step], "seed \(seed), redo \(step)")
        }
        #expect(!walk.run(EncodedEdit(RedoEdit())), "seed \(seed): nothing is left to redo")
    }

    @Test(arguments: UInt64(200)..<260)
    func entriesOfSeveralCommitsAreTakenBackWhole(seed: UInt64) {
        let walk = Walk(seed: seed)
        for _ in 0..<10 { walk.run(walk.edit()) }
        let before = walk.picture
        for _ in 0..<12 { walk.run(walk.edit(), .group("g")) }
        let after = walk.picture
        if after == before { return }
        walk.run(EncodedEdit(UndoEdit()))
        #expect(walk.picture == before, "seed \(seed)")
        walk.run(EncodedEdit(RedoEdit()))
        #expect(walk.picture == after, "seed \(seed)")
    }

    @Test(arguments: UInt64(300)..<340)
    func inAnyOrderAnUndoNeverBreaksTheRoom(seed: UInt64) {
        let walk = Walk(seed: seed)
        for _ in 0..<120 {
            switch Int.random(in: 0..<4, using: &walk.random) {
            case 0: walk.run(EncodedEdit(UndoEdit()))
            case 1: walk.run(EncodedEdit(RedoEdit()))
            default: walk.run(walk.edit(), walk.random.chance(30) ? .group("g") : .entry)
            }
            for element in walk.picture.values {
                guard let parent = element.parentId else { continue }
                #expect(walk.picture[Identifier(parent)] != nil, "seed \(seed): \(element.id) outlived its parent")
            }
        }
    }
}
