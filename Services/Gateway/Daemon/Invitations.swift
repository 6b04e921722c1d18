import Boot
import JSONBytes
import SocketIO

/// Where the canvas asks for a link to a room that comes with a right: at the app's own server, since that makes the tokens.
package struct Invitations: Sendable {
    static let url = Setting<String?>.optionalString(
        "invite-url",
        "Where the canvas asks the app's own server for invitations, links to a room with a right; by default it has none."
    )

    /// The address of the app's server.
    let url: String
    /// What of it a page needs to connect there: the scheme, the host and the port.
    let origin: String

    /// - Returns: nil where there are no invitations.
    init?(_ values: SettingValues, hasTokens: Bool) throws(SettingProblem) {
        guard let url = values[Self.url] else { return nil }
        guard hasTokens else {
            throw values.problem(Self.url, "needs jwt-secret or jwt-keys-file: without tokens there are no rights")
        }
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.first == "https:" || parts.first == "http:" else {
            throw values.problem(Self.url, "\"\(url)\" is no address that begins with https:// or http://")
        }
        do throws(UnusableName) {
            self.origin = try WebOrigin(parsing: parts.prefix(3).joined(separator: "/")).text
        } catch {
            throw values.problem(Self.url, "\"\(url)\" \(error.reason)")
        }
        self.url = url
    }

    /// What the canvas reads: JSON.
    static func json(_ invitations: Invitations?) -> [UInt8] {
        JSONWriter.text { $0.member("inviteUrl", ifPresent: invitations?.url) }
    }
}
