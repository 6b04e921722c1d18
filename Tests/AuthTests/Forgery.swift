import Crypto
import JSONBytes

@testable import Auth

/// Builds tokens that no honest signer would.
enum Forgery {
    /// A correctly signed HS256 token of the given header and payload texts.
    static func signed(
        header: String = #"{"alg":"HS256","typ":"JWT"}"#, _ payload: String, secret: [UInt8] = Golden.secret
    )
        -> String
    {
        let message = "\(self.encoded(header)).\(self.encoded(payload))"
        let key = SymmetricKey(data: secret)
        let signature = Array(HMAC<SHA256>.authenticationCode(for: Array(message.utf8), using: key))
        return message + "." + String(decoding: Base64.encodeURL(signature), as: UTF8.self)
    }

    /// A token with a signature of the attacker's choice.
    static func unsigned(header: String, _ payload: String, signature: [UInt8] = []) -> String {
        "\(self.encoded(header)).\(self.encoded(payload))."
            + String(decoding: Base64.encodeURL(signature), as: UTF8.self)
    }

    static func encoded(_ text: String) -> String {
        String(decoding: Base64.encodeURL(Array(text.utf8)), as: UTF8.self)
    }

    /// A payload that is fine but for what `changes` replaces (value nil: the member is left out).
    static func payload(_ changes: [(String, String?)] = []) -> String {
        var members: [(String, String?)] = [
            ("sub", #""ana""#), ("iss", #""touchsync""#), ("aud", #""touchsync""#), ("exp", "1700003600"),
            ("rooms", #"{"r1":"commit"}"#),
        ]
        for (key, value) in changes {
            members.removeAll { $0.0 == key }
            members.append((key, value))
        }
        return "{" + members.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }.joined(separator: ",") + "}"
    }
}
