import JSONBytes
import Testing

@testable import Simulation

/// What an app of the simulation has of its room.
@Suite struct RoomWitnessTests {
    private let world = World(Plan(seed: 1))

    /// What the witness has up to, after an update with the number after 4.
    private func placeAfterAnUpdate(_ before: (RoomWitness) -> Void) -> UInt64? {
        let witness = RoomWitness("app1", room: "r", in: self.world)
        witness.joinSent(after: nil)
        witness.beganToSee()
        _ = witness.joined(Self.json(#"{"epoch":"e","seq":4,"elements":[]}"#))
        before(witness)
        witness.received("element:deleted", Self.json(#"{"elementIds":["a"],"seq":5}"#))
        return witness.place?.seq
    }

    private static func json(_ text: String) -> JSONValue { AppText(Array(text.utf8)).root }

    /// A join that was under way is answered behind the news: the app waits for the answer to the one that it sends now.
    @Test func anAppThatLostItsPlaceAppliesNothingUntilItJoinsAgain() {
        let resync = Self.json(#"{"from":5,"to":4}"#)
        #expect(self.placeAfterAnUpdate { _ in } == 5)
        #expect(self.placeAfterAnUpdate { $0.received("room:resync", resync) } == 4)
        let isBack = self.placeAfterAnUpdate { witness in
            witness.received("room:resync", resync)
            witness.joinSent(after: 4)
            _ = witness.joined(Self.json(#"{"epoch":"e","seq":4,"updates":[]}"#))
        }
        #expect(isBack == 5)
    }
}
