/// How a core is made.
public struct ClientOptions: Sendable {
    /// What the server gets when the client connects, apart from the token.
    public var handshake: JSONObject
    /// Whether the app has tokens, and is asked for one before each connection.
    public var hasTokens: Bool
    /// The maximum number of edits without a result in a room.
    public var queueLimit: Int
    /// Whether elements move by themselves; otherwise they are where they are stored.
    public var motion: Bool

    /// Options with these values.
    public init(handshake: JSONObject = .empty, hasTokens: Bool = false, queueLimit: Int = 1000, motion: Bool = true) {
        self.handshake = handshake
        self.hasTokens = hasTokens
        self.queueLimit = queueLimit
        self.motion = motion
    }
}
