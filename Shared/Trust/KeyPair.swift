internal import Crypto

/// The public half of a key pair of CurveZMQ: a point of Curve25519. It may be shown to anybody.
package struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// The length of a key, bytes.
    package static let length = 32
    /// The length of a key's text, characters.
    package static let textLength = 40

    /// 32 bytes.
    package let bytes: [UInt8]

    /// nil unless there are 32 bytes.
    package init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count == PublicKey.length else { return nil }
    }

    /// Parses ZeroMQ's text of a key, Z85; nil unless it has 40 characters that encode 32 bytes.
    package init?(text: some Collection<UInt8>) {
        guard text.count == PublicKey.textLength, let bytes = Z85.decode(text) else { return nil }
        self.bytes = bytes
    }

    package var description: String { Z85.encode(self.bytes) }
}

/// A daemon's key pair for its links over TCP. The secret key is never printed or logged.
///
/// In a file it is two lines; other lines are empty or begin with `#`:
/// ```
/// public N0m8HaSm{wp7fp}z8ITmv63l{)c}I-4[hrI:3aK)
/// secret <40 characters>
/// ```
package struct KeyPair: Sendable, Equatable, CustomStringConvertible {
    /// What others know the daemon by.
    package let publicKey: PublicKey
    /// The secret key, 32 bytes.
    package let secretBytes: [UInt8]

    /// Why a file is not a key pair. Never contains the secret.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        /// A part of a sentence, with the line if there is one: `line 2: the key has not 40 characters`.
        package let description: String
    }

    /// A new random key pair.
    package init() {
        let key = Curve25519.KeyAgreement.PrivateKey()
        self.secretBytes = Array(key.rawRepresentation)
        self.publicKey = Self.publicKey(of: key)
    }

    /// The key pair of a secret key; nil unless it has 32 bytes.
    package init?(secretBytes: [UInt8]) {
        guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: secretBytes) else { return nil }
        self.secretBytes = secretBytes
        self.publicKey = Self.publicKey(of: key)
    }

    private static func publicKey(of key: Curve25519.KeyAgreement.PrivateKey) -> PublicKey {
        guard let key = PublicKey(key.publicKey.rawRepresentation) else {
            preconditionFailure("a key of Curve25519 has 32 bytes")
        }
        return key
    }

    package init(parsing bytes: [UInt8]) throws(Failure) {
        var keys: [String: [UInt8]] = [:]
        for line in ListedLine.lines(of: bytes) {
            guard line.words.count == 2, ["public", "secret"].contains(line.words[0]) else {
                throw Failure(description: "line \(line.number) is neither \"public KEY\" nor \"secret KEY\"")
            }
            guard let key = PublicKey(text: line.words[1].utf8) else {
                throw Failure(description: "line \(line.number): the key is not 40 characters of Z85")
            }
            guard keys.updateValue(key.bytes, forKey: line.words[0]) == nil else {
                throw Failure(description: "line \(line.number): there is a \(line.words[0]) key already")
            }
        }
        guard let secret = keys["secret"], let pair = KeyPair(secretBytes: secret) else {
            throw Failure(description: "contains no secret key")
        }
        guard keys["public"].map({ $0 == pair.publicKey.bytes }) ?? true else {
            throw Failure(description: "contains a public key that does not belong to its secret key")
        }
        self = pair
    }

    package var fileText: String {
        """
        # The key pair of a daemon's links. Keep it secret: whoever reads it can act as this daemon.
        public \(self.publicKey)
        secret \(Z85.encode(self.secretBytes))

        """
    }

    /// The public key alone.
    package var description: String { self.publicKey.description }
}
