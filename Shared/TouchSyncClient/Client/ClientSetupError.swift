import TouchSyncClientCore

/// Why there is no client.
public enum ClientSetupError: Error, Equatable, Sendable {
    /// This is no URL of a server.
    case url(String)
    /// A store needs an owner: the user whose edits it keeps.
    case ownerMissing
}

extension ClientError {
    static let closed = ClientError(code: "closed", message: "The client was closed.")
}
