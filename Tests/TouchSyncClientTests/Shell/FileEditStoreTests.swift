import Foundation
import JSONBytes
import Testing
import TouchSyncClientCore

@testable import TouchSyncClient

/// Edits in files.
@Suite(.timeLimit(.minutes(1))) struct FileEditStoreTests {
    private static let account = EditAccount(owner: "ada", origin: "https://touch.example")

    @Test(arguments: ["demo", "Demo", "a/../b", "..", "", "é", "e\u{301}", String(repeating: "x", count: 200)])
    func anyRoomHasItsFile(room: String) async throws {
        try await Self.withFolder { folder in
            let edits = try Self.edits(room)
            let store = FileEditStore(folder: folder)
            #expect(try await store.open(Self.account).isEmpty)
            try await store.save(edits, of: Self.account)
            try await store.save(try Self.edits("other"), of: Self.account)
            await store.close(Self.account)
            let again = FileEditStore(folder: folder)
            #expect(try await again.open(Self.account).contains(edits))
            try await again.clear(room, of: Self.account)
            await again.close(Self.account)
            #expect(try await store.open(Self.account).map(\.room) == ["other"])
        }
    }

    @Test func aNameThatNoServerAllowsIsRefused() async throws {
        try await Self.withFolder { folder in
            let store = FileEditStore(folder: folder)
            _ = try await store.open(Self.account)
            let room = String(repeating: "X", count: 200)
            await #expect(throws: EditStoreError.roomName(room)) {
                try await store.save(try Self.edits(room), of: Self.account)
            }
        }
    }

    @Test func oneClientAtATime() async throws {
        try await Self.withFolder { folder in
            let first = FileEditStore(folder: folder)
            let second = FileEditStore(folder: folder)
            _ = try await first.open(Self.account)
            await #expect(throws: EditStoreError.inUse) { try await second.open(Self.account) }
            await #expect(throws: EditStoreError.inUse) { try await first.open(Self.account) }
            await #expect(throws: EditStoreError.inUse) { try await second.save(try Self.edits("x"), of: Self.account) }
            _ = try await second.open(EditAccount(owner: "bob", origin: Self.account.origin))
            await first.close(Self.account)
            _ = try await second.open(Self.account)
        }
    }

    @Test func descriptorsAreClosed() async throws {
        try await Self.withFolder { folder in
            let first = FileEditStore(folder: folder)
            let second = FileEditStore(folder: folder)
            _ = try await first.open(Self.account)
            #expect(try Self.openFiles(below: folder) == 1)
            _ = try? await second.open(Self.account)
            try await first.save(try Self.edits("demo"), of: Self.account)
            #expect(try Self.openFiles(below: folder) == 1)
            await first.close(Self.account)
            #expect(try Self.openFiles(below: folder) == 0)
        }
    }

    @Test(arguments: ["", "{", "[]", #"{"room":"demo"}"#, "\u{0}"])
    func aBrokenFileIsPutAside(text: String) async throws {
        try await Self.withFolder { folder in
            let store = FileEditStore(folder: folder)
            _ = try await store.open(Self.account)
            try await store.save(try Self.edits("demo"), of: Self.account)
            try await store.save(try Self.edits("other"), of: Self.account)
            await store.close(Self.account)
            let file = try #require(try Self.files(below: folder).first { $0.hasSuffix("/demo.json") })
            try FileSystem.replace(file, with: Array(text.utf8))
            #expect(try await store.open(Self.account).map(\.room) == ["other"])
            #expect(try Self.files(below: folder).contains(file + ".broken"))
            try await store.save(try Self.edits("demo"), of: Self.account)
            await store.close(Self.account)
            #expect(try await store.open(Self.account).count == 2)
        }
    }

    @Test func aFolderThatCannotBeMadeIsAnError() async throws {
        await #expect(throws: EditStoreError.self) { try await FileEditStore(folder: "/dev/null/x").open(Self.account) }
    }

    @Test func foldersOfLongNamesDoNotMeet() {
        let long = String(repeating: "a", count: FileName.longest)
        #expect(FileName.folders(long) == [long])
        #expect(FileName.folders(long + "b") == [long + "+", "b"])
        #expect(FileName.folders("") == ["="])
        #expect(FileName.escaped("A/ä.") == "=41=2f=c3=a4=2e")
    }

    // MARK: Helpers

    private static func edits(_ room: String) throws -> SavedEdits {
        let text = JSONWriter.text { writer in
            writer.member("room", room)
            writer.object("record") { writer in
                writer.member("sid", "i")
                writer.member("nextNumber", 1)
                writer.member("gesture", 0)
                writer.member("edits", [String]())
            }
        }
        return try #require(SavedEdits(text: text))
    }

    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "edits-" + uniqueName()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private static func files(below folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }
    }

    /// How many files of a folder this process has open.
    private static func openFiles(below folder: String) throws -> Int {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return descriptors.filter { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
            return path?.hasPrefix(folder) ?? false
        }.count
    }
}
