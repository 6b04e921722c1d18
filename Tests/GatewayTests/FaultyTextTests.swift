import JSONBytes
import Testing
import Wire

@testable import GatewayCore

/// 97 fields, 1001 elements and 40 levels, each more than an app may send.
private let object = "{" + (0..<97).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
private let array = "[" + Array(repeating: "0", count: 1001).joined(separator: ",") + "]"
private let digits = String(repeating: "7", count: 33)
private let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)

@Suite struct FaultyTextTests {
    private func send(_ scene: inout Scene, _ slot: Slot, _ json: String, ack: UInt64? = 1) -> Bool {
        scene.gateway.eventReceived(
            Array(json.utf8), ackID: ack, from: slot, at: scene.moment, seconds: 0, into: &scene.actions)
    }

    @Test(arguments: [
        (#"["room:join",{"roomId":"r","session":"\u0000"}]"#, "invalid", "session"),
        (#"["room:join",{"roomId":"r","resume":{"epoch":"\ud800","seq":0}}]"#, "invalid", "resume.epoch"),
        (#"["auth:refresh",{"token":"\u0000"}]"#, "invalid", "token"),
        (#"["element:delete",{"roomId":"r","elementId":"a\u0000b"}]"#, "invalid", "elementId"),
        (#"["element:create",{"roomId":"r","element":{"type":"note","own":["\udc00"]}}]"#, "invalid", "element.own[0]"),
        (#"["room:join",{"roomId":"r","resume":{"epoch":"e","seq":1e400}}]"#, "invalid", "resume.seq"),
        (#"["room:join",{"roomId":"r","roomId":"r"}]"#, "invalid", "roomId"),
        (#"["element:delete",{"roomId":"r","elementId":"a","elementId":"b"}]"#, "invalid", "elementId"),
        (#"["viewport:set",{"roomId":"r","x":\#(digits)}]"#, "invalid", "x"),
        // Also in what nobody reads.
        (#"["element:delete",{"roomId":"r","elementId":"a","own":{"x":[1e999]}}]"#, "invalid", "own.x[0]"),
        (
            #"["elements:transform",{"roomId":"r","elements":[{},{"transform":{"rotation":\#(digits)}}]}]"#, "invalid",
            "elements[1].transform.rotation"
        ),
        (#"["element:create",{"roomId":"r","element":\#(object)}]"#, "too_large", "element"),
        (#"["element:create",{"roomId":"r","element":{"type":"note","own":\#(array)}}]"#, "too_large", "element.own"),
        (#"["elements:create",{"roomId":"r","elements":\#(array)}]"#, "too_large", "elements"),
    ])
    func wellFormedEventIsRefusedWithItsFieldAndNotCounted(json: String, code: String, field: String) throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        #expect(self.send(&scene, ada, json))
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.contains(#""code":"\#(code)""#), "\(text)")
        #expect(text.contains(#""field":"\#(field)""#), "\(text)")
    }

    @Test func depthOverTheLimitIsTooLargeAndNotCounted() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        #expect(self.send(&scene, ada, #"["element:create",{"roomId":"r","element":{"own":\#(deep)}}]"#))
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.contains(#""code":"too_large""#))
        #expect(text.contains(#""field":"element.own[0]"#))
    }

    @Test func unreadableTextIsCountedAlthoughItAlsoBreaksARule() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        #expect(!self.send(&scene, ada, #"["element:delete",{"roomId":"\u0000"},]"#))
        #expect(!self.send(&scene, ada, #"["element:delete",{"a":\#(array)"#))
    }

    @Test func numberedCommitUsesUpItsNumber() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        _ = self.send(&scene, ada, #"["element:update",{"roomId":"r","elementId":"e","set":{"a":"\u0000"},"n":1}]"#)
        let actions = scene.take()
        let refusal = try #require(actions.commits.first?.edit.refusal).refusal
        #expect(refusal.code == .invalid)
        #expect(refusal.field == "set.a")
        #expect(actions.texts(for: ada).isEmpty, "the committer answers")
    }

    @Test(arguments: [
        #""positionX":1e400"#, #""positionX":\#(digits)"#, #""positionX":1,"positionX":1"#, #""own":\#(array)"#,
    ])
    func anyFaultUsesUpItsNumberUnlessThatIsWhatIsWrong(fields: String) throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for number in 1...2 {
            _ = self.send(
                &scene, ada, #"["element:transform",{"roomId":"r","elementId":"e","n":\#(number),\#(fields)}]"#)
            let commit = try #require(scene.take().commits.first)
            #expect(commit.number == number && commit.edit.refusal != nil)
        }
        for wrong in [
            #""n":3,"n":3"#, #""n":1e400"#, #""n":3.\#(digits.map { _ in "0" }.joined())"#, #""n":3,"roomId":"r""#,
        ] {
            let text = #"["element:transform",{"roomId":"r","elementId":"e","positionX":1,\#(wrong)}]"#
            #expect(self.send(&scene, ada, text))
            let actions = scene.take()
            #expect(actions.commits.isEmpty, "\(wrong)")
            let field = wrong.contains("roomId") ? "roomId" : "n"
            #expect(actions.texts(for: ada).first?.contains(#""field":"\#(field)""#) == true, "\(wrong)")
        }
    }

    /// Also when it waited for its room's join, to which nobody sends its attachments.
    @Test func aCommitWithAttachmentsUsesUpItsNumber() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        let commit = #"["element:create",{"roomId":"r","n":1,"element":{"_placeholder":true,"num":0}}]"#
        for number in 1...2 {
            _ = scene.gateway.eventReceived(
                Array(commit.replacing("\"n\":1", with: "\"n\":\(number)").utf8), ackID: 7, from: ada, isBinary: true,
                at: scene.moment, seconds: 0, into: &scene.actions)
            if number == 1 { scene.answerJoins(sid: "s-ada") }
            let commit = try #require(scene.take().commits.first)
            #expect(commit.number == number)
            #expect(commit.edit.refusal?.refusal.message == "Events carry no binary attachments.")
        }
    }

    @Test func previewIsReportedByItsName() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let json = #"["element:transforming",{"roomId":"r","elementId":"\ud800","positionX":1}]"#
        #expect(self.send(&scene, ada, json, ack: nil))
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.hasPrefix(#"["transform:error",{"event":"element:transforming","code":"invalid""#))
        #expect(text.contains(#""field":"elementId""#))
    }

    @Test func elementOverHTTPIsRefusedWithItsField() throws {
        for (body, status, field) in [
            (#"{"type":"a\u0000"}"#, 400, "element.type"), (#"{"type":"note","own":\#(array)}"#, 413, "element.own"),
            (object, 413, "element"), (#"{"type":"note","positionX":1e400}"#, 400, "element.positionX"),
            (#"{"type":"note","type":"note"}"#, 400, "element.type"),
            (#"{"elements":[{"type":"note","own":\#(digits)}]}"#, 400, "elements[0].own"),
            (#"{"elements":[{"type":"note"},{"type":"note","own":"\u0000"}]}"#, 400, "elements[1].own"),
        ] {
            var scene = Scene()
            scene.post(body)
            guard case .http(_, status, let json) = scene.take().first else {
                Issue.record("not \(status): \(body)")
                continue
            }
            #expect(String(decoding: json, as: UTF8.self).contains(#""field":"\#(field)""#))
        }
    }
}
