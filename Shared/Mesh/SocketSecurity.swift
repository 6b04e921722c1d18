package import Trust

/// CURVE on a socket (ZeroMQ RFC 25 and 26): encryption, and both sides prove that they own their keys.
package enum SocketSecurity: Sendable {
    /// The bound side; the handler of ZAP requests of this domain decides which keys are admitted.
    case server(KeyPair, domain: String)
    /// The dialling side, which accepts the owner of one key only.
    case client(KeyPair, server: PublicKey)
}
