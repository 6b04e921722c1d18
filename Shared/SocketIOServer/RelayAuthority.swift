/// Proves to neighbours that this server relays a request, and checks what they say to relay.
///
/// Without one every request that is marked as relayed is accepted as such. Called on the server's loop.
public protocol RelayAuthority: Sendable {
    /// The proof for a neighbour; nil when it would not be believed.
    /// - Parameters:
    ///   - forwardedFor: the addresses that the request passed.
    ///   - neighbour: its name.
    func proof(
        method: String, target: String, forwardedFor: String, body: [UInt8], for neighbour: String
    ) -> String?

    /// Checks a request whose head has arrived.
    /// - Returns: the digest that its body must have; nil to refuse the request.
    func digest(provenBy proof: String?, method: String, target: String, forwardedFor: String) -> [UInt8]?

    /// Whether a body that has arrived has this digest.
    func isProven(body: [UInt8], digest: [UInt8]) -> Bool
}
