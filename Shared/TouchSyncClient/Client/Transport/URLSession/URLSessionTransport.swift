#if canImport(Darwin)
    import Foundation

    /// Reaches servers over URLSession, with the system's rules on trust, proxies and networks.
    public struct URLSessionTransport: Transport {
        private let messageLimit: Int
        private let requestTime: Duration

        /// A transport.
        /// - Parameters:
        ///   - messageLimit: the maximum size of a received message, in bytes.
        ///   - requestTime: how long `get` may take.
        public init(messageLimit: Int = 64 << 20, requestTime: Duration = .seconds(30)) {
            self.messageLimit = messageLimit
            self.requestTime = requestTime
        }

        public func open(_ url: String) async throws -> any TransportConnection {
            let connection = URLSessionConnection(try Self.url(url, .webSocket), messageLimit: self.messageLimit)
            try await connection.open()
            return connection
        }

        public func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse {
            var request = URLRequest(url: try Self.url(url, .http))
            if let token { request.setValue(try BearerToken.header(token), forHTTPHeaderField: "Authorization") }
            let session = URLSession(configuration: self.configuration, delegate: RedirectRefusal(), delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            do {
                return try await Self.response(to: request, in: session, limit: limit)
            } catch let error as TransportError {
                throw error
            } catch {
                try Task.checkCancellation()
                throw TransportError(error, "The answer could not be read")
            }
        }

        private var configuration: URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.timeoutIntervalForResource = self.requestTime / .seconds(1)
            return configuration
        }

        private static func response(
            to request: URLRequest, in session: URLSession, limit: Int
        ) async throws -> TransportResponse {
            let (bytes, response) = try await session.bytes(for: request)
            guard let response = response as? HTTPURLResponse else {
                throw TransportError(.notTouchSync, "The answer is not HTTP's.")
            }
            let status = response.statusCode
            guard !(300..<400).contains(status) else {
                throw TransportError(.notTouchSync, "The server redirects (\(status)), which is not followed.")
            }
            var body: [UInt8] = []
            for try await byte in bytes {
                guard body.count < limit else {
                    throw TransportError(.refused, "The answer's body has more than \(limit) bytes.")
                }
                body.append(byte)
            }
            return TransportResponse(status: status, body: body)
        }

        /// Foundation's form of `text`, which both transports accept under the same rules.
        private static func url(_ text: String, _ schemes: TransportURL.Schemes) throws -> URL {
            _ = try TransportURL(text, schemes)
            guard let url = URL(string: text) else { throw TransportError(.unreachable, "The URL is invalid.") }
            return url
        }
    }

    /// Leaves a redirection to whoever asked.
    private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }
#endif
