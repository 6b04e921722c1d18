import Auth
import Canvas
import JSONBytes
import Testing
import Wire

@testable import GatewayCore

@Suite("The handshake")
struct HandshakeTests {
    static func fields(
        auth: String? = nil, query: [String: String] = [:], headers: [String: String] = [:]
    ) throws -> HandshakeFields {
        var document = JSONDocument()
        if let auth { try document.parse(auth.utf8) }
        return try HandshakeFields(
            auth: auth == nil ? nil : document.root, query: { query["\($0)"] }, header: { headers["\($0)"] })
    }

    @Test func theAuthPayloadTheQueryAndHeadersAreAllRead() throws {
        let fields = try Self.fields(
            auth: #"{"userId":"ada","previews":false}"#, query: ["roomId": "r"],
            headers: ["x-touchsync-name": "Ada", "x-touchsync-batches": "true", "authorization": "Bearer t0k"])
        #expect(fields.user == "ada")
        #expect(fields.room == "r")
        #expect(fields.name == "Ada")
        #expect(fields.token == "t0k")
        #expect(!fields.options.previews && fields.options.motion)
        #expect(fields.batches)
        #expect(try !Self.fields().batches)
    }

    @Test func theSameThingGivenTwiceMustAgree() throws {
        #expect(try Self.fields(auth: #"{"roomId":"r"}"#, query: ["roomId": "r"]).room == "r")
        #expect(throws: Refusal(.invalid, "roomId was given twice with different values.", field: "roomId")) {
            try Self.fields(auth: #"{"roomId":"r"}"#, query: ["roomId": "q"])
        }
        #expect(throws: Refusal.self) { try Self.fields(auth: #"{"previews":true}"#, query: ["previews": "false"]) }
        #expect(throws: Refusal.self) { try Self.fields(auth: #"{"batches":true}"#, query: ["batches": "false"]) }
    }

    @Test func aHeaderSaysThatAnAppWantsNoMotion() throws {
        let headers = ["x-touchsync-motion": "false"]
        #expect(try !Self.fields(headers: headers).options.motion)
        let agreed = try Self.fields(auth: #"{"motion":false}"#, query: ["motion": "false"], headers: headers)
        #expect(!agreed.options.motion)
        for (auth, query) in [(nil, ["motion": "true"]), (#"{"motion":true}"#, [:])] as [(String?, [String: String])] {
            let refusal = #expect(throws: Refusal.self) { try Self.fields(auth: auth, query: query, headers: headers) }
            #expect(refusal?.code == .invalid && refusal?.field == "motion")
        }
    }

    @Test func anAppOfTheFirstContractMeansItsRoomWhenItNamesNone() throws {
        var scene = Scene()
        let (old, new) = (try scene.member("old", isV1: true), try scene.member("new"))
        for (app, code) in [(old, nil), (new, "A room id is required.")] {
            scene.send(app, "element:transform", #"{"elementId":"e","positionX":1}"#, ack: 1)
            let actions = scene.take()
            #expect(actions.commits.map(\.room) == (code == nil ? ["r"] : []))
            #expect(actions.texts(for: app).allSatisfy { $0.contains(code ?? "?") })
            scene.send(app, "element:transform", #"{"roomId":7,"elementId":"e","positionX":1}"#, ack: 2)
            #expect(scene.take().texts(for: app).first?.contains("A room id is a string.") == true)
        }
        // Who joins rooms has to name them.
        scene.send(old, "room:join", #"{"roomId":"other"}"#, ack: 3)
        scene.send(old, "element:transform", #"{"elementId":"e","positionX":1}"#, ack: 4)
        #expect(scene.take().texts(for: old).contains { $0.contains("A room id is required.") })
    }

    @Test(arguments: [
        (#"{"roomId":"a/b"}"#, "roomId"), (#"{"roomId":7}"#, "roomId"), (#"{"userId":""}"#, "userId"),
        (#"{"userId":null}"#, "userId"), (#"{"userId":"a\u0085"}"#, "userId"), (#"{"userId":"a\u202e"}"#, "userId"),
        (#"{"name":""}"#, "name"), (#"{"previews":"yes"}"#, "previews"), (#"{"batches":1}"#, "batches"),
        (#"{"color":"012345678901234567890123456789012"}"#, "color"), (#"{"token":"a\u200b"}"#, "token"),
    ])
    func whatIsOutOfGrammarIsRefusedWithItsField(auth: String, field: String) throws {
        let refusal = #expect(throws: Refusal.self) { try Self.fields(auth: auth) }
        #expect(refusal?.code == .invalid)
        #expect(refusal?.field == field)
    }

    @Test func namesAreShownWithoutWhatCannotBeSeen() throws {
        let fields = try Self.fields(auth: #"{"name":"A\u202ed\u0085a","color":"r\u0001ed"}"#)
        #expect(fields.name == "Ada" && fields.color == "red")
        let hidden = try Self.fields(auth: #"{"userId":"ada","name":"\u200b"}"#)
        let identity = try Authenticator(tokens: nil).identify(hidden, guest: "g", seconds: 0)
        #expect(identity.member.name == "ada")
    }

    @Test("in token mode an app is who its token says, with the rights of its token")
    func tokens() async throws {
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let keys = try KeySet(secret: secret)
        let authenticator = try await Authenticator(
            tokens: TokenVerifier(keys: keys, issuer: "touchsync", audience: "touchsync"))
        let token = try await TokenSigner(secret: secret).token(
            user: "ada", name: "Ada", rooms: [("r", .preview)], issuer: "touchsync", audience: "touchsync", at: 1_000,
            lifetime: 1_000)

        let identity = try authenticator.identify(
            Self.fields(query: ["token": token, "userId": "mallory"]), guest: "g", seconds: 1_500)
        #expect(identity.member.user == "ada")
        #expect(identity.may(.preview, in: "r"))
        #expect(!identity.may(.commit, in: "r"))
        #expect(!identity.may(.view, in: "other"))

        func refusal(_ fields: HandshakeFields, at seconds: Int64) -> Refusal? {
            #expect(throws: Denial.self) { try authenticator.identify(fields, guest: "g", seconds: seconds) }?.refusal
        }
        #expect(refusal(try Self.fields(), at: 1_500)?.code == .forbidden)
        #expect(refusal(try Self.fields(query: ["token": token]), at: 2_061)?.code == .sessionExpired)
        #expect(refusal(try Self.fields(query: ["token": token, "roomId": "other"]), at: 1_500)?.field == "roomId")
    }
}

@Suite("HTTP")
struct HTTPTests {
    static let anybody = Identity(member: Member(user: "ada", name: "Ada", color: ""))

    @Test func aReadIsAskedOfTheFanOutAndAnsweredWithTheRoom() throws {
        var scene = Scene()
        let request = scene.gateway.requestReceived(
            .room("r"), as: Self.anybody, at: scene.moment, seconds: 0, into: &scene.actions)
        #expect(
            scene.take() == [
                .fanout(shard: Shard.of(room: "r"), .read(RoomRead(request: request, room: "r", allowance: 256 << 10)))
            ])
        let state = RoomState.Outcome.state(Position(epoch: "e", seq: 2), elements: Array("[]".utf8))
        scene.gateway.readAnswered(
            RoomState(request: request, room: "r", outcome: state), at: scene.moment, into: &scene.actions)
        #expect(
            scene.take() == [
                .http(
                    request: request, status: 200,
                    json: Array(#"{"roomId":"r","epoch":"e","seq":2,"elements":[]}"#.utf8))
            ])
    }

    @Test("a room never used is 404, one that cannot be read 503, also when nobody answers")
    func failures() throws {
        var scene = Scene()
        let unused = scene.gateway.requestReceived(
            .room("r"), as: Self.anybody, at: scene.moment, seconds: 0, into: &scene.actions)
        let silent = scene.gateway.requestReceived(
            .room("s"), as: Self.anybody, at: scene.moment, seconds: 0, into: &scene.actions)
        _ = scene.take()
        scene.gateway.readAnswered(
            RoomState(request: unused, room: "r", outcome: .neverUsed), at: scene.moment, into: &scene.actions)
        scene.advance(10_000)
        let answers = scene.take().compactMap { action -> [UInt64]? in
            if case .http(let request, let status, _) = action { [request, UInt64(status)] } else { nil }
        }
        #expect(answers == [[unused, 404], [silent, 503]])
    }

    @Test("creating is a commit of its own session, answered 201; a repetition under way is 503")
    func create() throws {
        var scene = Scene()
        let request = scene.post(#"{"type":"note"}"#)
        let commit = try #require(scene.take().commits.first)
        #expect(commit.session == "h:1")
        #expect(commit.number == 1)
        scene.post(#"{"type":"note"}"#)
        guard case .http(_, 503, _)? = scene.take().first else {
            Issue.record("the repetition was not refused")
            return
        }
        scene.gateway.resultReceived(result(of: commit, seq: 3), at: scene.moment, into: &scene.actions)
        #expect(
            scene.take() == [.http(request: request, status: 201, json: Array(#"{"ok":true,"seq":3}"#.utf8))])
    }
}
