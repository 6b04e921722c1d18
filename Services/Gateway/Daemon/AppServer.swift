import Boot
import Canvas
import JSONBytes
import SocketIO

/// What the canvas asks of the app's own server, with the token of who asks: that server makes the tokens, and has a place
/// for pictures.
package struct AppServer: Sendable {
    static let inviteURL = Setting<String?>.optionalString(
        "invite-url",
        "Where the canvas asks the app's own server for invitations, links to a room with a right; by default it has none."
    )
    static let uploadURL = Setting<String?>.optionalString(
        "upload-url",
        "Where the canvas sends pictures, to the app's own server, which answers with their addresses; by default elements have them."
    )
    static let pictureOrigins = Setting<[String]>.list(
        "picture-origins",
        "Origins of the pictures that the canvas shows by their addresses; by default that of upload-url.")

    private let inviteURL: String?
    private let uploadURL: String?
    /// Where pages may connect to.
    let connections: [String]
    /// Where the pictures may be that pages show.
    let pictureOrigins: [String]

    init(_ values: SettingValues, hasTokens: Bool) throws(SettingProblem) {
        self.inviteURL = values[Self.inviteURL]
        self.uploadURL = values[Self.uploadURL]
        let inviting = try Self.origin(of: Self.inviteURL, values, hasTokens)
        let uploading = try Self.origin(of: Self.uploadURL, values, hasTokens)
        self.connections = [inviting, uploading == inviting ? nil : uploading].compactMap(\.self)
        var origins: [String] = []
        for text in values[Self.pictureOrigins] { origins.append(try Self.origin(text, values, Self.pictureOrigins)) }
        if origins.isEmpty, let uploading { origins.append(uploading) }
        for origin in origins where !PictureAddress.isSafe(origin) {
            throw values.problem(
                Self.pictureOrigins,
                "\"\(origin)\" has pictures that no element may name: only loopback goes without https")
        }
        self.pictureOrigins = origins
    }

    /// - Returns: the scheme, the host and the port of an address, where one is set.
    private static func origin(
        of setting: Setting<String?>, _ values: SettingValues, _ hasTokens: Bool
    ) throws(SettingProblem) -> String? {
        guard let url = values[setting] else { return nil }
        guard hasTokens else {
            throw values.problem(setting, "needs jwt-secret or jwt-keys-file: without tokens there are no rights")
        }
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return try Self.origin(parts.prefix(3).joined(separator: "/"), values, setting, of: url)
    }

    private static func origin<Value>(
        _ text: String, _ values: SettingValues, _ setting: Setting<Value>, of url: String? = nil
    ) throws(SettingProblem) -> String {
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
            throw values.problem(setting, "\"\(url ?? text)\" is no address that begins with https:// or http://")
        }
        do throws(UnusableName) { return try WebOrigin(parsing: text).text } catch {
            throw values.problem(setting, "\"\(url ?? text)\" \(error.reason)")
        }
    }

    /// What the canvas reads.
    var json: [UInt8] {
        JSONWriter.text { writer in
            writer.member("inviteUrl", ifPresent: self.inviteURL)
            writer.member("uploadUrl", ifPresent: self.uploadURL)
            writer.key("pictureOrigins")
            writer.beginArray()
            for origin in self.pictureOrigins { writer.value(origin) }
            writer.endArray()
        }
    }
}
