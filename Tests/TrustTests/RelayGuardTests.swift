import Testing

@testable import Trust

/// Requests between gateways: only the other gateway can make a proof, for one request, once, and soon.
@Suite struct RelayGuardTests {
    private let first = KeyPair()
    private let second = KeyPair()
    private let now: Int64 = 1_700_000_000_000
    private let request = RelayedRequest(method: "POST", target: "/socket.io/?sid=b.1", forwardedFor: "192.0.2.1")
    private let body = Array("4hello".utf8)

    private var peers: PeerList {
        PeerList([
            .init(role: .gateway, name: "a", key: self.first.publicKey),
            .init(role: .gateway, name: "b", key: self.second.publicKey),
        ])
    }

    private func sender(_ pair: KeyPair? = nil, name: String = "a", peers: PeerList? = nil) -> RelayGuard {
        RelayGuard(own: pair ?? self.first, name: name, peers: peers ?? self.peers)
    }

    private func receiver(peers: PeerList? = nil, capacity: Int = 100) -> RelayGuard {
        RelayGuard(own: self.second, name: "b", peers: peers ?? self.peers, capacity: capacity)
    }

    private func proof(_ sender: RelayGuard? = nil, at time: Int64? = nil, nonce: UInt8 = 1) throws -> String {
        var sender = sender ?? self.sender()
        let proof = sender.proof(
            of: self.request, body: self.body, to: "b", at: time ?? self.now,
            nonce: Array(repeating: nonce, count: 16))
        return try #require(proof)
    }

    @Test func aProofOfAListedGatewayHolds() throws {
        var receiver = self.receiver()
        let digest = try receiver.check(self.proof(), of: self.request, at: self.now + 5).get()
        #expect(receiver.check(body: self.body, digest: digest) == true)
        #expect(receiver.refusals.isEmpty)
        #expect(receiver.check(body: Array("4other".utf8), digest: digest) == false)
        #expect(receiver.refusals == [.body: 1])
    }

    @Test func aProofIsForItsRequestOnly() throws {
        for other in [
            RelayedRequest(method: "GET", target: self.request.target, forwardedFor: self.request.forwardedFor),
            RelayedRequest(method: "POST", target: "/socket.io/?sid=b.2", forwardedFor: self.request.forwardedFor),
            RelayedRequest(method: "POST", target: self.request.target, forwardedFor: "192.0.2.2"),
        ] {
            var receiver = self.receiver()
            #expect(try receiver.check(self.proof(), of: other, at: self.now) == .failure(.forged))
        }
    }

    @Test func everyChangedCharacterOfAProofIsSeen() throws {
        let text = Array(try self.proof().utf8)
        for index in text.indices {
            var changed = text
            changed[index] = changed[index] == UInt8(ascii: "1") ? UInt8(ascii: "2") : UInt8(ascii: "1")
            var receiver = self.receiver()
            let result = receiver.check(String(decoding: changed, as: UTF8.self), of: self.request, at: self.now)
            #expect(throws: RelayGuard.Refusal.self, "character \(index)") { try result.get() }
        }
    }

    @Test func aProofHoldsOnce() throws {
        var receiver = self.receiver()
        let proof = try self.proof()
        _ = try receiver.check(proof, of: self.request, at: self.now).get()
        // Also at the last moment, after others came in between.
        for nonce in 2...50 as ClosedRange<UInt8> {
            _ = try receiver.check(self.proof(nonce: nonce), of: self.request, at: self.now + Int64(nonce)).get()
        }
        #expect(receiver.check(proof, of: self.request, at: self.now + RelayGuard.tolerance) == .failure(.replayed))
    }

    @Test func aProofHoldsOnceWhateverTheClocksSay() throws {
        var receiver = self.receiver()
        // The sender's clock is ahead: the proof stays timely for twice the tolerance.
        let proof = try self.proof(at: self.now + RelayGuard.tolerance)
        _ = try receiver.check(proof, of: self.request, at: self.now).get()
        for later in stride(from: 0, through: 2 * RelayGuard.tolerance, by: 1000) {
            #expect(receiver.check(proof, of: self.request, at: self.now + later) == .failure(.replayed))
        }
        #expect(
            receiver.check(proof, of: self.request, at: self.now + 2 * RelayGuard.tolerance + 1) == .failure(.untimely))
    }

    @Test func clocksMayDifferALittle() throws {
        for (skew, holds) in [(0, true), (30_000, true), (-30_000, true), (30_001, false), (-30_001, false)]
            as [(Int64, Bool)]
        {
            var receiver = self.receiver()
            let result = receiver.check(try self.proof(at: self.now + skew), of: self.request, at: self.now)
            #expect((result == .failure(.untimely)) == !holds, "\(skew) ms")
        }
        var receiver = self.receiver()
        let farAway = try self.proof(at: .min)
        #expect(receiver.check(farAway, of: self.request, at: self.now) == .failure(.untimely))
    }

    @Test func keysOfOthersProveNothing() throws {
        let stranger = KeyPair()
        var receiver = self.receiver()
        #expect(
            try receiver.check(self.proof(self.sender(stranger)), of: self.request, at: self.now) == .failure(.forged))
        // A listed key under another's name, and a key of another role.
        let peers = PeerList(
            self.peers.entries + [
                .init(role: .gateway, name: "c", key: stranger.publicKey),
                .init(role: .committer, name: "a", key: stranger.publicKey),
            ])
        receiver.peersChanged(peers)
        #expect(
            try receiver.check(self.proof(self.sender(stranger)), of: self.request, at: self.now) == .failure(.forged))
        _ = try receiver.check(self.proof(self.sender(stranger, name: "c")), of: self.request, at: self.now).get()
        // Removed from the list.
        receiver.peersChanged(PeerList())
        #expect(try receiver.check(self.proof(nonce: 9), of: self.request, at: self.now) == .failure(.forged))
    }

    /// Strangers who relay nothing have no proof at all.
    @Test func whatIsNoProofIsRefused() throws {
        let proof = try self.proof()
        let texts: [String?] = [
            nil, "", ";;;;", "a;1;2;3;4", proof + ",", proof + ";", String(proof.dropLast()), proof.uppercased(),
            proof + String(repeating: "," + String(repeating: "0", count: 64), count: 4),
        ]
        var receiver = self.receiver()
        for text in texts { #expect(receiver.check(text, of: self.request, at: self.now) == .failure(.missing)) }
        #expect(receiver.refusals == [.missing: texts.count])
    }

    @Test func aProofIsForOneReceiver() throws {
        let third = KeyPair()
        let peers = PeerList(self.peers.entries + [.init(role: .gateway, name: "c", key: self.second.publicKey)])
        var other = RelayGuard(own: self.second, name: "c", peers: peers)
        #expect(try other.check(self.proof(), of: self.request, at: self.now) == .failure(.forged))
        var unlisted = self.sender()
        #expect(
            unlisted.proof(of: self.request, body: [], to: "nobody", at: self.now, nonce: third.secretBytes.suffix(16))
                == nil)
    }

    /// While a key is replaced both are listed, and the sender does not know which of them the receiver has.
    @Test func bothKeysOfAGatewayHoldWhileOneIsReplaced() throws {
        let next = KeyPair()
        let peers = PeerList([
            .init(role: .gateway, name: "a", key: self.first.publicKey),
            .init(role: .gateway, name: "a", key: next.publicKey),
            .init(role: .gateway, name: "b", key: KeyPair().publicKey),
            .init(role: .gateway, name: "b", key: self.second.publicKey),
        ])
        var receiver = self.receiver(peers: peers)
        _ = try receiver.check(self.proof(self.sender(peers: peers)), of: self.request, at: self.now).get()
        let renewed = try self.proof(self.sender(next, peers: peers), nonce: 2)
        _ = try receiver.check(renewed, of: self.request, at: self.now).get()
    }

    @Test func memoryIsBounded() throws {
        var receiver = self.receiver(capacity: 2)
        for nonce in 1...2 as ClosedRange<UInt8> {
            _ = try receiver.check(self.proof(nonce: nonce), of: self.request, at: self.now).get()
        }
        #expect(try receiver.check(self.proof(nonce: 3), of: self.request, at: self.now) == .failure(.busy))
        // Later there is room again.
        let later = self.now + 2 * RelayGuard.tolerance
        _ = try receiver.check(self.proof(at: later, nonce: 4), of: self.request, at: later).get()
    }
}
