import Testing
import TouchSyncClientCore

@testable import TouchSyncClient

/// What apps hear of the outputs of the core.
@Suite struct RoomChangeTests {
    @Test func appHearsWhatHappensInTheRoom() {
        let error = ClientError(code: .forbidden, message: "no")
        #expect(RoomChange(.changed(["a", "b"])) == .elements(["a", "b"]))
        #expect(RoomChange(.moving("a")) == .moving(["a"]))
        #expect(RoomChange(.still("a")) == .still(["a"]))
        #expect(
            RoomChange(.awareness(userId: "u", sid: "s", .selection(["a"])))
                == .awareness(userId: "u", sid: "s", .selection(["a"])))
        #expect(RoomChange(.joined(recovered: true)) == .joined(recovered: true))
        #expect(RoomChange(.refused(error)) == .denied(error))
        #expect(RoomChange(.left) == .left)
    }

    @Test func whatTheClientDoesItselfIsNotTold() {
        #expect(RoomChange(.save(nil, isFirst: false)) == nil)
        #expect(RoomChange(.readHistory(after: 3)) == nil)
    }
}
