import Auth
import JSONBytes
import Testing
import Timing
import Wire

@testable import GatewayCore

/// What tokens may do while they last, and what they may cost.
@Suite struct TokenTests {
    private static let transform = #"{"roomId":"r","elementId":"e","positionX":1}"#

    // MARK: What strangers learn

    @Test(arguments: TokenFailure.allCases.filter { $0 != .expired })
    func everyBadTokenHasTheSameAnswer(_ failure: TokenFailure) {
        #expect(Denial(failure).refusal == Refusal(.forbidden, "The token is not valid.", field: "token"))
        #expect(Denial(failure).failure == failure)
    }

    @Test func whatFailedIsForOperatorsOnly() async throws {
        var scene = Scene(tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada"))
        scene.send(ada, "auth:refresh", #"{"token":"a.b.c"}"#, ack: 1)
        let actions = scene.take()
        #expect(actions.contains(.tokenRefused(.malformed)))
        #expect(
            actions.texts(for: ada) == [
                #"{"ok":false,"error":{"code":"forbidden","message":"The token is not valid.","field":"token"}}"#
            ])
    }

    // MARK: Patience

    @Test func theTenthRefusedRefreshClosesTheConnection() async throws {
        var scene = Scene(tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada"))
        for _ in 0..<9 {
            scene.send(ada, "auth:refresh", #"{"token":"a.b.c"}"#)
            scene.advance(1000)
        }
        // A good one in between changes nothing.
        scene.send(ada, "auth:refresh", #"{"token":"\#(try await Keys.token("ada"))"}"#)
        #expect(!scene.take().contains(.expel(ada)))
        scene.send(ada, "auth:refresh", #"{"token":5}"#)
        #expect(scene.take().last == .expel(ada))
    }

    @Test func anAppThatRefreshesWithoutNeedStaysInOpenMode() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for ack in UInt64(0)..<40 { scene.send(ada, "auth:refresh", #"{"token":"a.b.c"}"#, ack: ack) }
        let actions = scene.take()
        #expect(actions.acknowledged.count == 40 && !actions.contains(.expel(ada)))
    }

    @Test func theTenthRefusedConnectClosesTheConnection() {
        var limit = AdmissionLimit(limits: GatewayLimits())
        let answers = (0..<10).map { _ in limit.refused() }
        #expect(answers == Array(repeating: false, count: 9) + [true])
    }

    @Test func tokensOfAConnectionAreCheckedAtARate() async throws {
        var scene = Scene(tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada"))
        let refresh = #"{"token":"\#(try await Keys.token("ada"))"}"#
        for ack in UInt64(0)..<11 { scene.send(ada, "auth:refresh", refresh, ack: ack) }
        let texts = scene.take().texts(for: ada)
        #expect(texts.prefix(10).allSatisfy { $0.contains(#""ok":true"#) })
        #expect(texts.last?.contains(#""code":"rate_limited""#) == true)
        #expect(texts.last?.contains(#""retryAfterMs":500"#) == true)
        scene.advance(500)
        scene.send(ada, "auth:refresh", refresh, ack: 11)
        #expect(scene.take().texts(for: ada).last?.contains(#""ok":true"#) == true)
    }

    @Test func tokensOfAnAddressAreCheckedAtARate() throws {
        var budget = RateBudget<String>(perSecond: 2, burst: 10)
        for _ in 0..<10 { #expect(budget.spend(of: "a", at: .start) == nil) }
        #expect(budget.spend(of: "a", at: .start) == 500)
        #expect(budget.spend(of: "b", at: .start) == nil)
        #expect(budget.spend(of: "a", at: .start + .milliseconds(500)) == nil)
    }

    @Test func addressesBeyondTheBoundShareOneBudgetUntilOthersAreIdle() throws {
        var budget = RateBudget<Int>(perSecond: 1, burst: 5, maxKeys: 3)
        for address in 0..<3 { #expect(budget.spend(of: address, at: .start) == nil) }
        for address in 100..<105 { #expect(budget.spend(of: address, at: .start) == nil) }
        #expect(budget.spend(of: 105, at: .start) != nil)
        #expect(budget.spend(of: 0, at: .start) == nil)
        #expect(budget.count == 3)
        let later = Instant.start + .seconds(1)
        #expect(budget.spend(of: 200, at: later) == nil)
        #expect(budget.count == 2, "only the first address is not idle yet")
    }

    @Test func whatWasChargedIsPaidByItsOwnKeyAlone() {
        var budget = RateBudget<Int>(perSecond: 10, burst: 20, maxKeys: 2)
        let none = budget.debt(of: 1, at: .start)
        #expect(none == nil && budget.count == 0)
        for key in 1...3 { budget.charge(30, of: key, at: .start) }
        // Nobody pays for the third, for whom there was no bucket.
        let debts = (1...4).map { budget.debt(of: $0, at: .start) }
        #expect(debts == [1100, 1100, nil, nil])
        let later = Instant.start + .milliseconds(1100)
        #expect(budget.debt(of: 1, at: later) == nil)
        // When the others are idle there is one again.
        let muchLater = Instant.start + .seconds(10)
        budget.charge(30, of: 3, at: muchLater)
        #expect(budget.debt(of: 3, at: muchLater) == 1100 && budget.count == 1)
    }

    // MARK: Tokens that are not valid any more

    @Test func revocationEndsALiveConnection() async throws {
        var scene = Scene(tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada", id: "t1"))
        let bob = try await scene.member(Keys.token("bob", id: "t2"))
        scene.gateway.tokensChanged(try await Keys.verifier(revoking: #"{"jti":"t1"}"#), into: &scene.actions)
        let actions = scene.take()
        #expect(
            actions.texts(for: ada) == [#"["auth:error",{"code":"forbidden","message":"The token is not valid."}]"#])
        #expect(actions.last == .disconnect(ada))
        #expect(actions.texts(for: bob).isEmpty && !actions.contains(.disconnect(bob)))
        #expect(scene.gateway.authenticator.revokedTotal == 1)
        let token = try await Keys.token("ada", id: "t1")
        #expect(throws: Denial(.revoked)) { try scene.enter(token) }
    }

    @Test func usersAreRevokedByTheTimeOfTheirTokens() async throws {
        var scene = Scene(tokens: try await Keys.verifier())
        let old = try await scene.member(Keys.token("ada", at: 0))
        let new = try await scene.member(Keys.token("ada", at: 20))
        scene.gateway.tokensChanged(
            try await Keys.verifier(revoking: #"{"sub":"ada","before":10}"#), into: &scene.actions)
        let actions = scene.take()
        #expect(actions.contains(.disconnect(old)) && !actions.contains(.disconnect(new)))
    }

    @Test func aConnectionEndsWithTheKeyThatAdmittedIt() async throws {
        var scene = Scene(tokens: try await Keys.verifier(Keys.old, Keys.new))
        let old = try await scene.member(Keys.token("ada", by: Keys.old))
        let new = try await scene.member(Keys.token("bob", by: Keys.new))
        scene.gateway.tokensChanged(try await Keys.verifier(Keys.new, Keys.newest), into: &scene.actions)
        let actions = scene.take()
        #expect(actions.contains(.disconnect(old)) && !actions.contains(.disconnect(new)))
    }

    @Test func aRefreshedConnectionOutlivesItsFirstToken() async throws {
        var scene = Scene(tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada", id: "t1"))
        scene.send(ada, "auth:refresh", #"{"token":"\#(try await Keys.token("ada", id: "t2"))"}"#)
        scene.gateway.tokensChanged(try await Keys.verifier(revoking: #"{"jti":"t1"}"#), into: &scene.actions)
        #expect(!scene.take().contains(.disconnect(ada)))
    }

    @Test func whatWaitsForARevokedTokenIsNotDone() async throws {
        var limits = GatewayLimits()
        limits.unacknowledged = 1
        var scene = Scene(limits: limits, tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada", id: "t1"))
        for ack in UInt64(1)...3 { scene.send(ada, "element:transform", Self.transform, ack: ack) }
        scene.send(ada, "room:join", #"{"roomId":"s"}"#, ack: 4)
        let first = try #require(scene.take().commits.first)
        #expect(scene.gateway.commits.inFlight.reservedCount == 2)
        scene.gateway.tokensChanged(try await Keys.verifier(revoking: #"{"jti":"t1"}"#), into: &scene.actions)
        let actions = scene.take()
        #expect(actions.acknowledged == [2, 3] && actions.commits.isEmpty)
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.joins.count == 0)
        // The first one may have been applied already.
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        scene.advance(1000)
        #expect(scene.take().commits.isEmpty && scene.gateway.commits.inFlight.count == 0)
        #expect(scene.gateway.commits.inFlight.reservedCount == 0 && scene.gateway.commits.inFlight.bytes == 0)
    }

    @Test func whatARevokedTokenLeftBehindIsNotSent() async throws {
        var limits = GatewayLimits()
        limits.commitBurst = 1
        limits.commitsPerSecond = 1
        var scene = Scene(limits: limits, tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada", id: "t1"))
        let bob = try await scene.member(Keys.token("bob", id: "t2"))
        for slot in [ada, bob] {
            for _ in 0..<3 { scene.send(slot, "element:transform", Self.transform) }
            scene.gateway.disconnected(slot, at: scene.moment, into: &scene.actions)
        }
        #expect(scene.take().commits.count == 2)
        scene.gateway.tokensChanged(try await Keys.verifier(revoking: #"{"jti":"t1"}"#), into: &scene.actions)
        for _ in 0..<20 { scene.advance(1000) }
        #expect(Set(scene.take().commits.map(\.user)) == ["bob"])
        #expect(scene.gateway.commits.inFlight.reservedCount == 0)
    }

    // MARK: Rights

    @Test func lowerRightsCountFromTheNextEventOn() async throws {
        var limits = GatewayLimits()
        limits.unacknowledged = 1
        var scene = Scene(limits: limits, tokens: try await Keys.verifier())
        let ada = try await scene.member(Keys.token("ada"))
        for ack in UInt64(1)...2 { scene.send(ada, "element:transform", Self.transform, ack: ack) }
        let first = try #require(scene.take().commits.first)
        scene.send(ada, "auth:refresh", #"{"token":"\#(try await Keys.token("ada", right: .view))"}"#, ack: 3)
        scene.send(ada, "element:transform", Self.transform, ack: 4)
        scene.send(ada, "element:transforming", Self.transform)
        let actions = scene.take()
        #expect(actions.previews.isEmpty && actions.commits.isEmpty && actions.acknowledged == [3, 4])
        #expect(actions.texts(for: ada).contains { $0.contains(#""code":"forbidden""#) })
        // The second one was accepted with the rights of its arrival.
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        let second = try #require(scene.take().commits.first)
        #expect(second.number == 2 && second.edit.refusal == nil)
    }
}

/// Who an app is while it is connected, without the rest of a gateway.
@Suite struct AuthenticatorTests {
    private var connections = Connections(prefix: 1, limits: GatewayLimits())
    private var actions: [GatewayAction] = []

    private mutating func connect(_ token: String, by authenticator: Authenticator) throws -> Slot {
        let handshake = try HandshakeFields(
            auth: nil, query: { "\($0)" == "token" ? token : nil }, header: { _ in nil })
        let identity = try authenticator.identify(handshake, guest: "guest", seconds: 0)
        return self.connections.insert(identity, handshake)
    }

    private mutating func refresh(_ slot: Slot, _ token: String, by authenticator: Authenticator) throws -> [Identifier]
    {
        var reader = EventReader(limits: GatewayLimits(), seed: 1)
        let text = Array(#"["auth:refresh",{"token":"\#(token)"}]"#.utf8)
        let event = try reader.event(text, ackID: 7, from: slot, at: .start)
        return authenticator.refreshReceived(event, &self.connections, seconds: 0, into: &self.actions)
    }

    @Test mutating func newTokenNamesTheRoomsThatItGivesNoRightTo() async throws {
        let authenticator = Authenticator(tokens: try await Keys.verifier())
        let ada = try self.connect(try await Keys.token("ada"), by: authenticator)
        for room in ["here", "there"] as [Identifier] {
            _ = self.connections.bySlot[ada]?.startJoin(1, of: room, options: StreamOptions(), at: .start)
        }
        let narrower = try await TokenSigner(secret: Keys.new).token(
            id: nil, user: "ada", rooms: [("here", .view)], issuer: "i", audience: "a", at: 0, lifetime: 1000)
        #expect(try self.refresh(ada, narrower, by: authenticator) == ["there"])
        #expect(self.actions.map(\.acknowledgedSlot) == [ada])
        #expect(self.connections.bySlot[ada]?.identity.may(.commit, in: "here") == false)
    }

    @Test mutating func anotherUsersTokenChangesNothing() async throws {
        let authenticator = Authenticator(tokens: try await Keys.verifier())
        let ada = try self.connect(try await Keys.token("ada"), by: authenticator)
        #expect(try self.refresh(ada, try await Keys.token("bob"), by: authenticator).isEmpty)
        #expect(self.connections.bySlot[ada]?.identity.member.user == "ada")
        #expect(self.connections.refusedTotal == 1 && self.actions.map(\.acknowledgedSlot) == [ada])
    }

    @Test mutating func otherRevocationsNameTheConnectionsThatEnd() async throws {
        var authenticator = Authenticator(tokens: try await Keys.verifier())
        _ = try self.connect(try await Keys.token("ada", id: "t1"), by: authenticator)
        let bob = try self.connect(try await Keys.token("bob", id: "t2"), by: authenticator)
        let verifier = try await Keys.verifier(revoking: #"{"jti":"t2"}"#)
        #expect(authenticator.tokensChanged(verifier, self.connections) == [bob])
        #expect(authenticator.revokedTotal == 1)
    }
}

extension GatewayAction {
    /// The connection whose event is answered; nil for any other action.
    fileprivate var acknowledgedSlot: Slot? { if case .acknowledge(let slot, 7, _) = self { slot } else { nil } }
}

/// Keys, and tokens that are valid in a ``Scene``, where no second passes.
private enum Keys {
    static let old = Array("an old secret of thirty-two bytes".utf8)
    static let new = Array("a new secret of thirty-two bytes.".utf8)
    static let newest = Array("the newest secret: thirty-two bytes".utf8)

    static func verifier(_ secrets: [UInt8]..., revoking list: String = "") async throws -> TokenVerifier {
        var keys = try KeySet(secret: secrets.first ?? Self.new)
        for secret in secrets.dropFirst() { keys = try keys.union(KeySet(secret: secret)) }
        return try await TokenVerifier(
            keys: keys, issuer: "i", audience: "a", revocations: RevocationList(parsing: list.utf8))
    }

    static func token(
        _ user: String, id: String? = nil, right: Right = .commit, by secret: [UInt8] = Self.new, at seconds: Int64 = 0
    ) async throws -> String {
        try await TokenSigner(secret: secret).token(
            id: id, user: user, rooms: [("*", right)], issuer: "i", audience: "a", at: seconds, lifetime: 1000)
    }
}

extension Scene {
    /// A user of the token mode connects.
    fileprivate mutating func enter(_ token: String) throws -> Slot {
        let handshake = try HandshakeFields(
            auth: nil, query: { "\($0)" == "token" ? token : nil }, header: { _ in nil })
        let identity = try self.gateway.authenticator.identify(handshake, guest: "guest", seconds: 0)
        return self.gateway.connected(identity: identity, handshake: handshake, at: self.moment, into: &self.actions)
    }

    /// The same, and it is in the room `r`; leaves no actions behind.
    fileprivate mutating func member(_ token: String) throws -> Slot {
        let slot = try self.enter(token)
        self.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 0)
        self.answerJoins(sid: "s", seq: 0)
        _ = self.take()
        return slot
    }
}
