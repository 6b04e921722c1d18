#if canImport(Darwin)
    import Foundation

    /// Waits for a WebSocket to open or to fail.
    final class URLSessionOpening: NSObject, URLSessionWebSocketDelegate, @unchecked Sendable {
        private let lock = NSLock()
        // Both are used under the lock only.
        private var continuation: CheckedContinuation<Void, any Error>?
        private var result: Result<Void, any Error>?

        /// Calls `begin`, unless the end came before, and waits for the end.
        func wait(_ begin: () -> Void) async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result = self.lock.withLock {
                    if self.result == nil { self.continuation = continuation }
                    return self.result
                }
                if let result { continuation.resume(with: result) } else { begin() }
            }
        }

        /// Ends the wait, unless it has ended.
        func end(_ result: Result<Void, any Error>) {
            let continuation = self.lock.withLock {
                if self.result == nil { self.result = result }
                return self.continuation.take()
            }
            continuation?.resume(with: result)
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
        ) {
            self.end(.success(()))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if let status = (task.response as? HTTPURLResponse)?.statusCode, status != 101 {
                return self.end(.failure(TransportError(status: status, body: nil)))
            }
            self.end(.failure(TransportError(error, "The server opened no WebSocket")))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }
#endif
