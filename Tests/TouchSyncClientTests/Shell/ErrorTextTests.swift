import Foundation
import Testing
import TouchSyncClient

/// Errors as apps print them.
@Suite struct ErrorTextTests {
    private static func refusal(_ text: String) async throws -> ClientError {
        let fixture = try Fixture()
        let (room, connection) = try await fixture.entered()
        let edit = room.delete("a")
        try await connection.answer("element:delete", #"{"ok":false,"error":\#(text)}"#)
        return try #require(await #expect(throws: ClientError.self) { try await edit.result })
    }

    @Test func aRefusalIsOneSentence() async throws {
        let error = try await Self.refusal(#"{"code":"forbidden","message":"The element is locked.","field":"locked"}"#)
        #expect("\(error)" == "forbidden, locked: The element is locked.")
        #expect((error as any Error).localizedDescription == "The element is locked.")
    }

    @Test func aCodeOfANewerServerIsKept() async throws {
        let error = try await Self.refusal(#"{"code":"asleep"}"#)
        #expect(error.code == .other("asleep") && error.code.rawValue == "asleep")
        #expect("\(error)" == "asleep")
    }

    @Test func everyOtherErrorIsOneSentence() throws {
        let setup = #expect(throws: ClientSetupError.self) { try SyncClient(url: "wall") }
        let errors: [any Error] = [
            try #require(setup), ClientSetupError.ownerMissing, EditStoreError.inUse, EditStoreError.timedOut,
            EditStoreError.roomName("r"), EditStoreError.system("open a", errno: 13),
        ]
        for error in errors {
            #expect("\(error)".hasSuffix(".") && "\(error)" == error.localizedDescription)
        }
        #expect("\(errors[0])".contains("“wall”"))
        #expect("\(errors[5])" == "The store could not open a: Permission denied (13).")
    }
}
