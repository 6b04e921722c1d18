import SocketIO
import SocketIOServer
import Testing

/// Two servers that prove to each other what they relay.
@Suite struct RelayAuthorityTests {
    /// Believes proofs that repeat the request; a digest is the body itself.
    private struct Authority: RelayAuthority {
        var isListed = true

        func proof(
            method: String, target: String, forwardedFor: String, body: [UInt8], for neighbour: String
        ) -> String? {
            guard self.isListed else { return nil }
            let text = String(decoding: body, as: UTF8.self).replacing("\u{1e}", with: "^")
            return "\(neighbour)|\(method)|\(target)|\(forwardedFor)|\(text)|"
        }

        func digest(provenBy proof: String?, method: String, target: String, forwardedFor: String) -> [UInt8]? {
            let head = "owner|\(method)|\(target)|\(forwardedFor)|"
            return proof.flatMap { $0.hasPrefix(head) ? bytes(String($0.dropFirst(head.count).dropLast())) : nil }
        }

        func isProven(body: [UInt8], digest: [UInt8]) -> Bool {
            body.map { $0 == 0x1E ? UInt8(ascii: "^") : $0 } == digest
        }
    }

    private static let poll = "/engine.io/?EIO=4&transport=polling&sid="
    private let owner: ServerFixture
    private let entry: ServerFixture
    private let sid: String

    init() throws { try self.init(Authority()) }

    private init(_ authority: Authority) throws {
        let owner = try ServerFixture {
            $0.sidPrefix = "a."
            $0.maxPayload = 2000
            $0.relayAuthority = Authority()
        }
        self.owner = owner
        self.entry = try ServerFixture {
            $0.sidPrefix = "b."
            $0.maxPayload = 2000
            $0.neighbours = ["a.": .init(host: "127.0.0.1", port: owner.port, name: "owner")]
            $0.relayAuthority = authority
        }
        self.sid = try owner.openPolling(owner.client(), path: "/engine.io/")
    }

    @Test func provenRequestsAreAnswered() throws {
        let client = try self.entry.client()
        for round in 0..<3 {
            #expect(try client.ask(RawClient.post(Self.poll + self.sid, "4\(round)")).body == "ok")
            #expect(try client.ask(RawClient.get(Self.poll + self.sid)).body == "4\(round)")
        }
    }

    /// Each part has a proof of its own.
    @Test func aLongPostIsProvenInParts() throws {
        let client = try self.entry.client()
        let packets = (0..<10).map { "4\($0)" + String(repeating: "x", count: 700) }
        let post = RawClient.post(Self.poll + self.sid, packets.joined(separator: "\u{1e}"))
        #expect(try client.ask(post).body == "ok")
        let received = try client.ask(RawClient.get(Self.poll + self.sid)).body
        #expect(received.split(separator: "\u{1e}").map(String.init) == packets)
        #expect(try self.owner.onLoop { server, _ in server.statistics.requests } == 7)
    }

    @Test func requestsWithoutAProofAreRefused() throws {
        let target = Self.poll + self.sid
        let marked = RawClient.get(target).replacing("\r\n\r\n", with: "\r\nX-SocketIO-Relayed: 1\r\n\r\n")
        #expect(try self.owner.client().ask(marked).status == 403)
        let proof = "X-SocketIO-Relay-Proof: owner|GET|\(target)|||"
        for forged in [proof + "\r\n" + proof, proof.replacing("GET", with: "POST")] {
            let request = marked.replacing("\r\n\r\n", with: "\r\n\(forged)\r\n\r\n")
            #expect(try self.owner.client().ask(request).status == 403)
        }
        // The session is unharmed, and its own client needs no proof.
        let client = try self.owner.client()
        #expect(try client.ask(RawClient.post(target, "4x")).body == "ok")
        #expect(try client.ask(RawClient.get(target)).body == "4x")
    }

    @Test func anotherBodyThanTheProvenOneIsRefused() throws {
        let target = Self.poll + self.sid
        let fields = "X-SocketIO-Relayed: 1\r\nX-SocketIO-Relay-Proof: owner|POST|\(target)||4yes|"
        func post(_ body: String) throws -> Int {
            let request = RawClient.post(target, body).replacing("\r\n\r\n", with: "\r\n\(fields)\r\n\r\n")
            return try self.owner.client().ask(request).status
        }
        #expect(try post("4no!") == 403)
        #expect(try post("4yes") == 200)
        let client = try self.owner.client()
        #expect(try client.ask(RawClient.get(target)).body == "4yes")
    }

    @Test func nothingIsRelayedToANeighbourWithoutAKey() throws {
        let tests = try RelayAuthorityTests(Authority(isListed: false))
        let answer = try tests.entry.client().ask(RawClient.get(Self.poll + tests.sid))
        #expect(answer.status == 400 && answer.body.contains("Session ID unknown"))
        #expect(try tests.entry.onLoop { server, _ in server.statistics.relayedRequests } == 0)
    }
}
