#if os(Linux)
    import NIOCore
    import NIOHTTP1
    import NIOSSL
    import TouchSyncClientCore

    /// Collects the answer to a request, of which the body has a limit.
    final class HTTPGetHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private let attempt: Attempt<TransportResponse>
        private let limit: Int
        private var status: HTTPResponseStatus?
        private var body: [UInt8] = []

        /// Ends `attempt` with an answer of at most `limit` bytes.
        init(_ attempt: Attempt<TransportResponse>, limit: Int) {
            self.attempt = attempt
            self.limit = limit
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head): self.begin(head)
            case .body(let bytes): self.append(bytes)
            case .end: self.finish(context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let code = error is NIOSSLError ? ConnectionFailure.Code.tls : .notTouchSync
            self.attempt.fail(TransportError(code, "The answer could not be read: \(error)"))
            context.close(promise: nil)
        }

        private func begin(_ head: HTTPResponseHead) {
            self.status = head.status
            switch head.status.code {
            case ..<200:
                self.attempt.fail(
                    TransportError(.notTouchSync, "The server answered \(head.status), which was not asked for."))
            case 300..<400:
                self.attempt.fail(
                    TransportError(.notTouchSync, "The server redirects (\(head.status)), which is not followed."))
            default: break
            }
            if let length = head.headers.first(name: "Content-Length").flatMap(Int.init), length > self.limit {
                self.refuse()
            }
        }

        private func append(_ bytes: ByteBuffer) {
            guard bytes.readableBytes <= self.limit - self.body.count else { return self.refuse() }
            self.body.append(contentsOf: bytes.readableBytesView)
        }

        private func refuse() {
            self.attempt.fail(TransportError(.refused, "The answer's body has more than \(self.limit) bytes."))
        }

        private func finish(_ context: ChannelHandlerContext) {
            guard let status = self.status else { return }
            self.attempt.succeed(TransportResponse(status: Int(status.code), body: self.body))
            context.close(promise: nil)
        }
    }
#endif
