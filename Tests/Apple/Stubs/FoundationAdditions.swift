// What Foundation has on Apple's platforms alone, or in another module here.
@_exported import Foundation
@_exported import FoundationNetworking

extension NotificationCenter {
    public struct Notifications: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { fatalError() }
        }

        public func makeAsyncIterator() -> Iterator { fatalError() }
    }

    public func notifications(named name: Notification.Name) -> Notifications { fatalError() }
}

// Objective-C's protocols have optional methods.
extension URLSessionWebSocketDelegate {
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {}
}

extension URLSession {
    public struct AsyncBytes: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> UInt8? { fatalError() }
        }

        public func makeAsyncIterator() -> Iterator { fatalError() }
    }

    public func bytes(for request: URLRequest) async throws -> (AsyncBytes, URLResponse) { fatalError() }
}

extension URL {
    public static var applicationSupportDirectory: URL { fatalError() }
}

extension URLError.Code {
    public static var appTransportSecurityRequiresSecureConnection: URLError.Code { fatalError() }
}
