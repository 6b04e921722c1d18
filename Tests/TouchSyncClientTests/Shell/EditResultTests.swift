import Testing

@testable import TouchSyncClient
@testable import TouchSyncClientCore

@Suite struct EditResultTests {
    private static func result(_ text: String) throws -> EditResult {
        let details = try #require(JSONObject(text: Array(text.utf8)))
        return try #require(EditResult(EditAnswer(details)))
    }

    @Test func anUndoNamesWhatItDeleted() throws {
        let text = """
            {"ok":true,"seq":3,"elements":[],"undone":{"seq":2,"event":"element:created","elementIds":["a"],"skipped":0}}
            """
        let result = try Self.result(text)
        #expect(result.deletedIds == ["a"])
        #expect(!result.foundNothing)
        #expect("\(result)" == text)
    }

    @Test func anUndoMayFindNothing() throws {
        #expect(try Self.result("{\"ok\":true,\"seq\":2,\"elements\":[]}").foundNothing)
        #expect(try !Self.result("{\"ok\":true,\"seq\":2,\"elementIds\":[\"a\"]}").foundNothing)
    }
}
