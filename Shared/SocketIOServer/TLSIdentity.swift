internal import NIOSSL

/// What a server proves its identity with: a certificate chain and the private key of its first certificate.
public struct TLSIdentity: Sendable {
    /// The server's own certificate first, then its issuers.
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey
    /// For connections that clients open.
    let context: NIOSSLContext

    /// Reads PEM files. May take some milliseconds: not for an event loop.
    /// - Parameters:
    ///   - certificates: the text of a chain, the server's own certificate first.
    ///   - key: the text of a private key without a passphrase.
    public init(certificates: [UInt8], key: [UInt8]) throws(TLSIdentityFailure) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificates), !chain.isEmpty else {
            throw .noCertificate
        }
        guard let key = try? NIOSSLPrivateKey(bytes: key, format: .pem) else { throw .noKey }
        do { self.context = try Self.context(chain, key) } catch { throw .mismatch }
        self.chain = chain
        self.key = key
    }

    /// When the server's own certificate expires, seconds since 1970.
    public var expiry: Int { Int(self.chain[0].notValidAfter) }

    /// There is no renegotiation: BoringSSL's servers refuse it.
    private static func context(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        // Ephemeral keys and authenticated encryption only, which is all that TLS 1.3 has; this is for TLS 1.2.
        configuration.cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
        configuration.applicationProtocols = ["http/1.1"]
        configuration.certificateVerification = .none
        configuration.trustRoots = .certificates([])
        return try NIOSSLContext(configuration: configuration)
    }
}

extension TLSIdentity: Equatable {
    public static func == (left: TLSIdentity, right: TLSIdentity) -> Bool {
        left.chain == right.chain && left.key == right.key
    }
}

public enum TLSIdentityFailure: Error, Sendable, Equatable {
    /// The first text contains no certificate, or one that is damaged.
    case noCertificate
    /// The second text contains no key, or one that needs a passphrase.
    case noKey
    /// The key is not the certificate's.
    case mismatch
}
