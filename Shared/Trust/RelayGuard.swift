internal import Crypto

/// Proves to other gateways that requests come from this one, and checks their proofs. A plain value: time and nonces
/// are passed in.
package struct RelayGuard {
    /// Why a relayed request is refused.
    package enum Refusal: String, Error, CaseIterable, Sendable {
        /// No proof, or one that is malformed.
        case missing
        /// No key of a gateway of that name made it for this request.
        case forged
        /// It was made too long ago, or too far in the future.
        case untimely
        /// It was used before.
        case replayed
        /// Too many came for all of them to be remembered.
        case busy
        /// The body is another one.
        case body
    }

    /// How far the clocks of two gateways may differ, plus the time that a request travels, ms.
    package static let tolerance: Int64 = 30_000

    private let own: KeyPair
    private let name: String
    private var peers: PeerList
    private var memory: NonceMemory
    /// The keys shared with gateways: computing one takes longer than all the rest.
    private var shared: [PublicKey: SymmetricKey] = [:]
    /// The number of requests that were refused, by the reason.
    package private(set) var refusals: [Refusal: Int] = [:]

    /// - Parameters:
    ///   - name: of this gateway.
    ///   - capacity: the number of proofs that are remembered at a time.
    package init(own: KeyPair, name: String, peers: PeerList, capacity: Int = 1 << 18) {
        self.own = own
        self.name = name
        self.peers = peers
        self.memory = NonceMemory(span: 2 * Self.tolerance, capacity: capacity)
    }

    /// Other peers are listed.
    package mutating func peersChanged(_ peers: PeerList) {
        self.peers = peers
        self.shared = [:]
    }

    // MARK: Sending

    /// The proof for a request to another gateway; nil when no key of it is listed.
    /// - Parameters:
    ///   - body: the whole body.
    ///   - now: ms since 1970.
    ///   - nonce: 16 bytes, never used before.
    package mutating func proof(
        of request: RelayedRequest, body: [UInt8], to receiver: String, at now: Int64, nonce: [UInt8]
    ) -> String? {
        let bare = RelayProof(
            name: self.name, time: now, nonce: nonce, digest: RelayedRequest.digest(of: body), macs: [])
        let covered = bare.covered(request, to: receiver)
        let macs = self.keys(of: receiver).map { key in
            Array(HMAC<SHA256>.authenticationCode(for: covered, using: key))
        }
        guard !macs.isEmpty else { return nil }
        return RelayProof(name: bare.name, time: bare.time, nonce: nonce, digest: bare.digest, macs: macs).text
    }

    // MARK: Receiving

    /// Checks the proof of a request. What it allows is used up: the same proof is refused from then on.
    /// - Parameter now: ms since 1970.
    /// - Returns: the SHA-256 that the body must have.
    package mutating func check(
        _ text: String?, of request: RelayedRequest, at now: Int64
    ) -> Result<[UInt8], Refusal> {
        let result = self.judge(text, request, now)
        if case .failure(let refusal) = result { self.refusals[refusal, default: 0] += 1 }
        return result
    }

    /// Checks a body that has arrived.
    /// - Parameter digest: what ``check(_:of:at:)`` returned.
    package mutating func check(body: [UInt8], digest: [UInt8]) -> Bool {
        if RelayedRequest.digest(of: body) == digest { return true }
        self.refusals[.body, default: 0] += 1
        return false
    }

    private mutating func judge(
        _ text: String?, _ request: RelayedRequest, _ now: Int64
    ) -> Result<[UInt8], Refusal> {
        guard let text, let proof = RelayProof(text) else { return .failure(.missing) }
        // Before the MAC, because it costs nothing.
        let (age, isFar) = now.subtractingReportingOverflow(proof.time)
        guard !isFar, (-Self.tolerance...Self.tolerance).contains(age) else { return .failure(.untimely) }
        guard self.isAuthentic(proof, request) else { return .failure(.forged) }
        // Only what a gateway made is remembered, so strangers cannot fill the memory.
        switch self.memory.insert(proof.nonce, at: now) {
        case .new: return .success(proof.digest)
        case .known: return .failure(.replayed)
        case .full: return .failure(.busy)
        }
    }

    private mutating func isAuthentic(_ proof: RelayProof, _ request: RelayedRequest) -> Bool {
        let covered = proof.covered(request, to: self.name)
        for key in self.keys(of: proof.name) {
            for mac in proof.macs where HMAC<SHA256>.isValidAuthenticationCode(mac, authenticating: covered, using: key)
            {
                return true
            }
        }
        return false
    }

    // MARK: Keys

    /// The keys shared with a gateway, one for each of its listed keys.
    private mutating func keys(of name: String) -> [SymmetricKey] {
        self.peers.keys(of: .gateway, named: name).prefix(RelayProof.maximumKeys).compactMap { self.sharedKey($0) }
    }

    private mutating func sharedKey(_ key: PublicKey) -> SymmetricKey? {
        if let known = self.shared[key] { return known }
        // X25519 (RFC 7748), then HKDF (RFC 5869). Both sides get the same key; names and nonces tell directions apart.
        guard let own = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: self.own.secretBytes),
            let other = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: key.bytes),
            let secret = try? own.sharedSecretFromKeyAgreement(with: other)
        else { return nil }
        let derived = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: Array("touchsync".utf8), sharedInfo: Array("relay 1".utf8), outputByteCount: 32)
        self.shared[key] = derived
        return derived
    }
}
