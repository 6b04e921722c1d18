import Crypto
import Dispatch
import JSONBytes
import Timing
import Wire

@testable import Auth
@testable import FanoutDaemon
@testable import GatewayCore

private let secret = Array("a secret of thirty-two bytes or more".utf8)
private let keys = (try? KeySet(secret: secret)) ?? { fatalError("no key") }()
private let verifier = waiting { try await TokenVerifier(keys: keys, issuer: "touchsync", audience: "touchsync") }
private let now: Int64 = 1_750_000_000

/// Tokens as they come, the same bytes as the claims of a token with a good signature, and as files of keys and
/// revocations.
@Sendable func fuzzToken(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    precondition((try? verifier.verify(bytes, at: now)) == nil, "a token that nobody signed")
    _ = try? KeySet(parsing: bytes)
    _ = try? RevocationList(parsing: bytes)
    guard let claims = try? verifier.verify(signed(bytes), at: now) else { return }
    precondition((1...128).contains(claims.user.utf8.count) && claims.expiresAt > now - 61, "claims beyond bounds")
}

/// A token of a payload of the fuzzer's, whose signature is good.
private func signed(_ payload: [UInt8]) -> [UInt8] {
    let header = Base64.encodeURL(#"{"alg":"HS256","typ":"JWT"}"#.utf8)
    let message = header + [UInt8(ascii: ".")] + Base64.encodeURL(payload)
    let signature = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret))
    return message + [UInt8(ascii: ".")] + Base64.encodeURL(Array(signature))
}

/// What an asynchronous function returns; libFuzzer calls a target from C.
private func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Value {
    nonisolated(unsafe) var value: Value?
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        value = try? await body()
        done.signal()
    }
    done.wait()
    return value ?? { fatalError("nothing came of it") }()
}

private let seal = SessionSeal(hexadecimal: String(repeating: "5a", count: 32)) ?? { fatalError("no seal") }()

/// The secret of a session: what was issued is known again, and with another signature it is not. The input is a secret,
/// or what to change in a good one. (That a made-up secret is refused cannot be asked here: the fuzzer reads along in
/// every comparison, and puts the right signature together within seconds.)
@Sendable func fuzzSession(_ input: UnsafeRawBufferPointer) {
    _ = seal.verify(String(decoding: input, as: UTF8.self), room: "r", user: "u")
    let (sid, secret) = seal.issue(room: "r", user: "u", milliseconds: UInt64(now), random: UInt64(input.count))
    precondition(seal.verify(secret, room: "r", user: "u") == sid, "does not know its own session")
    var bytes = Array(secret.utf8)
    let signature = sid.text.utf8.count + 1
    for (index, byte) in input.enumerated() where signature + index < bytes.count { bytes[signature + index] ^= byte }
    let changed = String(decoding: bytes, as: UTF8.self)
    guard changed != secret else { return }
    precondition(seal.verify(changed, room: "r", user: "u") == nil, "a changed signature is good")
}

/// An app's events, one a line, the first one also as what it names when it connects. Whatever it sends, every event
/// that asks for an answer gets at most one, and all that leaves is JSON.
@Sendable func fuzzEvent(_ input: UnsafeRawBufferPointer) {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).prefix(16).map(Array.init)
    var gateway = Gateway(name: "g", connectionPrefix: 1, seed: 1, limits: GatewayLimits(), tokens: nil)
    var document = JSONDocument()
    let auth = lines.first.flatMap { (try? document.parse($0)) == nil ? nil : document.root }
    let handshake = (try? HandshakeFields(auth: auth, query: { _ in nil }, header: { _ in nil })) ?? plainHandshake()
    guard let identity = try? gateway.authenticator.identify(handshake, guest: "guest", seconds: now) else { return }
    let start = Instant.start + .seconds(1)
    var actions: [GatewayAction] = []
    let slot = gateway.connected(identity: identity, handshake: handshake, at: start, into: &actions)
    answerJoins(&gateway, &actions)
    for (index, line) in lines.enumerated() {
        let moment = start + .milliseconds(UInt64(index))
        gateway.eventReceived(line, ackID: UInt64(index), from: slot, at: moment, seconds: Double(now), into: &actions)
        answerJoins(&gateway, &actions)
    }
    gateway.timeReached(start + .seconds(1), seconds: Double(now), into: &actions)
    check(actions)
    gateway.disconnected(slot, at: start + .seconds(2), into: &actions)
}

/// A back end's request over HTTP: the input is its body, and the place in a room's stream. Whatever it has, the request gets
/// one answer once all its commits have results, and that is JSON.
@Sendable func fuzzRequest(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    var gateway = Gateway(name: "g", connectionPrefix: 1, seed: 1, limits: GatewayLimits(), tokens: nil)
    let identity = Identity(member: Member(user: "u", name: "u", color: ""))
    for (session, form) in [CommitRequest.Form.creation, .commits].enumerated() {
        let request = CommitRequest(room: "r", form: form, body: bytes, session: Identifier("h:.\(session)"))
        var actions: [GatewayAction] = []
        _ = gateway.requestReceived(
            .commits(request), as: identity, at: .start, seconds: Double(now), into: &actions)
        var next = 0
        while next < actions.count {
            if case .commit(_, let commit) = actions[next] { apply(commit, &gateway, &actions) }
            next += 1
        }
        let answers = actions.compactMap { if case .http(_, _, let json) = $0 { json } else { nil } }
        precondition(answers.count == 1, "not answered once")
        mustParse(answers[0])
        precondition(gateway.commits.inFlight.isEmpty && gateway.commits.inFlight.bytes == 0, "something is kept")
    }
    let place = String(decoding: input, as: UTF8.self)
    guard let position = try? EventStreamText.position(place) else { return }
    precondition(place.hasPrefix(position.epoch.text + ":"), "another place than that of the text")
}

/// The committer's part: every commit is applied at once.
private func apply(_ commit: Commit, _ gateway: inout Gateway, _ actions: inout [GatewayAction]) {
    let result = CommitResult(
        room: commit.room, session: commit.session, number: commit.number, connection: commit.connection, refusal: nil,
        seq: commit.number, json: Array(#"{"ok":true}"#.utf8), elements: 1, bodyHash: commit.edit.bodyHash)
    gateway.resultReceived(result, at: .start, into: &actions)
}

private func plainHandshake() -> HandshakeFields {
    guard let fields = try? HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil }) else {
        fatalError("nothing named is refused")
    }
    return fields
}

/// The fan-out's part: every join is answered at once.
private func answerJoins(_ gateway: inout Gateway, _ actions: inout [GatewayAction]) {
    for case .fanout(_, .join(let join)) in actions {
        let joined = JoinReply.Joined(
            position: Position(epoch: "e", seq: 0), content: .elements(Array("[]".utf8)), members: [join.member],
            session: "secret", sid: "s", sessionEpoch: 1, number: 0)
        gateway.joinAnswered(
            JoinReply(request: join.request, room: join.room, connection: join.connection, outcome: .success(joined)),
            at: .start + .seconds(1), seconds: Double(now), into: &actions)
    }
}

private func check(_ actions: [GatewayAction]) {
    var answered: Set<UInt64> = []
    for action in actions {
        switch action {
        case .acknowledge(_, let id, let json):
            precondition(answered.insert(id).inserted, "answered twice")
            mustParse(json)
        case .emit(_, let json), .broadcast(_, let json, _): mustParse(json)
        case .previews(_, let previews), .sightings(_, let previews):
            for preview in previews { mustParse(preview.json) }
        default: break
        }
    }
}

private func mustParse(_ json: [UInt8]) {
    var document = JSONDocument()
    var limits = JSONLimits()
    limits.keysPerObject = 1000
    limits.numberLength = 400
    do { try document.parse(json, limits: limits) } catch { fatalError("sends what is no JSON: \(error)") }
}
