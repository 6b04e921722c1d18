internal import Crypto

/// What a proof of relay covers of an HTTP request.
package struct RelayedRequest: Equatable, Sendable {
    /// Such as `POST`.
    package let method: String
    /// Path and query, as they stand in the request.
    package let target: String
    /// The value of `X-Forwarded-For` as the relaying gateway sends it: the client that it speaks for.
    package let forwardedFor: String

    package init(method: String, target: String, forwardedFor: String) {
        self.method = method
        self.target = target
        self.forwardedFor = forwardedFor
    }

    /// SHA-256 of a body, 32 bytes.
    package static func digest(of body: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: body)) }
}
