import JSONBytes
import TouchSyncClientCore

/// Who the app's user is, where the server wants no tokens.
public struct ClientUser: Equatable, Sendable {
    /// The id; a guest's if nil.
    public var id: String?
    /// What others see.
    public var name, color: String?

    /// A user.
    public init(id: String? = nil, name: String? = nil, color: String? = nil) {
        self.id = id
        self.name = name
        self.color = color
    }

    /// Somebody without a name, or whom the token names.
    public static let guest = ClientUser()

    var handshake: JSONObject {
        JSONObject { writer in
            writer.member("userId", ifPresent: self.id)
            writer.member("name", ifPresent: self.name)
            writer.member("color", ifPresent: self.color)
            writer.member("batches", true)
        }
    }
}
