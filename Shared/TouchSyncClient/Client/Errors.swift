public import TouchSyncClientCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Why there is no client.
public enum ClientSetupError: Error, Equatable, Sendable {
    /// This is no URL of a server.
    case url(String)
    /// A store needs an owner: the user whose edits it keeps.
    case ownerMissing
}

// Each error is one sentence, printed and as `localizedDescription`.

extension ClientError: LocalizedError {
    /// The message.
    public var errorDescription: String? { self.message }
}

extension ClientSetupError: CustomStringConvertible, LocalizedError {
    /// What is wrong with which argument.
    public var description: String {
        switch self {
        case .url(let url):
            "“\(url)” is no URL of a server: it begins with http://, https://, ws:// or wss://, and has a host."
        case .ownerMissing: "A client with a store needs an owner, the user whose edits it keeps."
        }
    }

    /// The description.
    public var errorDescription: String? { self.description }
}

extension EditStoreError: CustomStringConvertible, LocalizedError {
    /// What is the matter with which file.
    public var description: String {
        switch self {
        case .inUse: "Another client has the saved edits of this owner: this one goes on without a store."
        case .timedOut: "The store did not open within 5 s: this client goes on without it."
        case .roomName(let room): "The name of the room “\(room)” is too long for a file: its edits are not saved."
        case .system(let action, let number):
            "The store could not \(action): \(FileSystem.text(ofError: number)) (\(number))."
        }
    }

    /// The description.
    public var errorDescription: String? { self.description }
}

extension TransportError: LocalizedError {
    /// The description.
    public var errorDescription: String? { self.description }
}

extension ConnectionFailure: LocalizedError {
    /// The message.
    public var errorDescription: String? { self.message }
}
