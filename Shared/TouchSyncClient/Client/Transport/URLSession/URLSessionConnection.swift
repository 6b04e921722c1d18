#if canImport(Darwin)
    import Foundation

    /// A WebSocket over URLSession. It is closed at the latest when nobody refers to it.
    ///
    /// A receiver whose task is cancelled closes the connection.
    final class URLSessionConnection: TransportConnection {
        /// How many bytes may wait to be sent; a connection with more is closed.
        private static let sendLimit = 64 << 20

        private let session: URLSession
        private let task: URLSessionWebSocketTask
        private let watch = URLSessionOpening()
        private let unsent = UnsentBytes(limit: URLSessionConnection.sendLimit)

        /// A connection to `url` that `open` opens.
        init(_ url: URL, messageLimit: Int) {
            self.session = URLSession(configuration: .ephemeral, delegate: self.watch, delegateQueue: nil)
            self.task = self.session.webSocketTask(with: url)
            self.task.maximumMessageSize = messageLimit
        }

        deinit { self.close() }

        /// Waits until the server has agreed.
        func open() async throws {
            try await withTaskCancellationHandler {
                try await self.watch.wait { self.task.resume() }
            } onCancel: {
                self.watch.end(.failure(CancellationError()))
                self.close()
            }
        }

        func send(_ text: String) {
            let size = text.utf8.count
            guard self.unsent.add(size) else { return self.close() }
            self.task.send(.string(text)) { [unsent] _ in unsent.remove(size) }
        }

        func receive() async -> String? {
            let message = await withTaskCancellationHandler {
                try? await self.task.receive()
            } onCancel: {
                self.close()
            }
            guard case .string(let text) = message else {
                self.close()
                return nil
            }
            return text
        }

        func close() {
            self.task.cancel(with: .normalClosure, reason: nil)
            self.session.finishTasksAndInvalidate()
        }
    }
#endif
