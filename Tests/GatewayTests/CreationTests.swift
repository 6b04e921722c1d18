import Canvas
import Testing
import Wire

@testable import GatewayCore

/// What may be the body of a creation over HTTP, and what becomes of it.
@Suite struct CreationTests {
    private struct Answer: Equatable {
        var status: Int
        var json: String
    }

    /// Creates over HTTP, and returns the commit or the answer that it led to.
    private func create(_ body: String, session: Identifier = "h:1", in scene: inout Scene) -> (Commit?, Answer?) {
        scene.post(body, session: session, seconds: 1_700_000_000)
        let actions = scene.take()
        guard case .http(_, let status, let json)? = actions.first else { return (actions.commits.first, nil) }
        return (nil, Answer(status: status, json: String(decoding: json, as: UTF8.self)))
    }

    private func group(of count: Int) -> String {
        #"{"elements":["# + (0..<count).map { #"{"type":"note","id":"n\#($0)"}"# }.joined(separator: ",") + "]}"
    }

    @Test func anObjectWithATypeIsOneElement() throws {
        var scene = Scene()
        let (commit, _) = self.create(#"{"type":"note","id":"a"}"#, in: &scene)
        #expect(try #require(commit).edit.decode(CreateElement.self).item.id == "a")
    }

    @Test func anIDThatIsMadeBeginsWithTheTime() throws {
        var scene = Scene()
        let (commit, _) = self.create(#"{"type":"note"}"#, in: &scene)
        #expect(try #require(commit).edit.decode(CreateElement.self).item.id.text.hasPrefix("~loyw3v28-"))
    }

    @Test func aTypeMakesElementsAFieldOfTheElement() throws {
        var scene = Scene()
        let (commit, _) = self.create(#"{"elements":[1],"type":"list","id":"a"}"#, in: &scene)
        #expect(try #require(commit).edit.decode(CreateElement.self).item.fields.extra.map(\.name) == ["elements"])
    }

    @Test(arguments: [1, 500]) func anObjectWithElementsIsOneCommitOfAll(count: Int) throws {
        var scene = Scene()
        let (commit, _) = self.create(self.group(of: count), in: &scene)
        let edit = try #require(commit).edit.decode(CreateElements.self)
        #expect(edit.items.map(\.id) == (0..<count).map { Identifier("n\($0)") })
        #expect(commit?.session == "h:1" && commit?.number == 1)
    }

    @Test func theResultIsAnsweredAsCreated() throws {
        var scene = Scene()
        let commit = try #require(self.create(self.group(of: 2), in: &scene).0)
        scene.gateway.resultReceived(result(of: commit, seq: 7), at: scene.moment, into: &scene.actions)
        #expect(scene.take().statuses == [201])
    }

    /// Its client was told that it is not applied, and has used the `Idempotency-Key` for something else.
    @Test func theLateResultOfAnotherBodyAnswersNothing() throws {
        var scene = Scene()
        let former = try #require(self.create(#"{"type":"note","id":"given-up"}"#, in: &scene).0)
        scene.advance(10_000)
        #expect(scene.take().statuses == [503])
        let commit = try #require(self.create(#"{"type":"note","id":"wanted"}"#, in: &scene).0)
        scene.gateway.resultReceived(result(of: former, seq: 5), at: scene.moment, into: &scene.actions)
        #expect(scene.take().statuses == [])
        let conflict = Refusal(.conflict, "This number was sent with another body.", field: "n")
        scene.gateway.resultReceived(result(of: commit, refusal: conflict), at: scene.moment, into: &scene.actions)
        #expect(scene.take().statuses == [409])
    }

    @Test(arguments: [
        ("[]", 400, "element"), ("7", 400, "element"), ("{}", 400, "element.type"),
        (#"{"element":{"type":"note"}}"#, 400, "element.type"), (#"{"elements":{}}"#, 400, "elements"),
        (#"{"elements":[]}"#, 400, "elements"), (#"{"elements":[7]}"#, 400, "elements[0]"),
        (#"{"elements":[{"type":"note"},{}]}"#, 400, "elements[1].type"),
        (#"{"elements":[{"type":"note","id":"a"},{"type":"note","id":"a"}]}"#, 400, "elements[1].id"),
    ])
    func aWrongBodyIsRefusedWithItsField(body: String, status: Int, field: String) throws {
        var scene = Scene()
        let answer = try #require(self.create(body, in: &scene).1)
        #expect(answer.status == status && answer.json.contains(#""field":"\#(field)""#), "\(answer)")
    }

    @Test func aBodyOfNeitherShapeIsToldBoth() throws {
        var scene = Scene()
        for body in ["[]", "{}", #"{"element":{"type":"note"}}"#] {
            let answer = try #require(self.create(body, in: &scene).1)
            #expect(answer.json.contains("an object with a type") && answer.json.contains(#"{\"elements\": […]}"#))
        }
    }

    @Test func moreThanFiveHundredElementsAreTooLarge() throws {
        var scene = Scene()
        let answer = try #require(self.create(self.group(of: 501), in: &scene).1)
        #expect(answer.status == 413 && answer.json.contains(#""field":"elements""#))
    }
}

extension [GatewayAction] {
    /// The statuses of answers to requests over HTTP.
    fileprivate var statuses: [Int] {
        self.compactMap { if case .http(_, let status, _) = $0 { status } else { nil } }
    }
}
