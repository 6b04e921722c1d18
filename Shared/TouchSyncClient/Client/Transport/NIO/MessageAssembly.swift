#if os(Linux)
    import NIOCore
    import NIOWebSocket

    /// Makes messages of a server's frames, whose mistakes it finds.
    ///
    /// A message costs its bytes, whatever number of frames it comes in.
    struct MessageAssembly {
        enum Event: Equatable {
            /// A message is complete.
            case message(String)
            /// The server wants these bytes back.
            case ping(ByteBuffer)
            /// The server closes, with the code that answers it.
            case close(WebSocketErrorCode)
        }

        /// A mistake of the server, after which the connection is closed.
        struct Failure: Error, Equatable {
            let code: WebSocketErrorCode

            static var violation: Failure { Failure(code: .protocolError) }
        }

        private let messageLimit: Int
        private let fragmentLimit: Int
        private var text = ByteBuffer()
        private var fragments = 0

        init(messageLimit: Int, fragmentLimit: Int) {
            self.messageLimit = messageLimit
            self.fragmentLimit = fragmentLimit
        }

        mutating func received(_ frame: WebSocketFrame) throws(Failure) -> Event? {
            guard frame.maskKey == nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { throw .violation }
            switch frame.opcode {
            case .text, .continuation: return try self.append(frame)
            case .ping: return .ping(frame.data)
            case .pong: return nil
            case .connectionClose: return .close(try Self.answer(to: frame.data))
            case .binary: throw Failure(code: .unacceptableData)
            default: throw .violation
            }
        }

        private mutating func append(_ frame: WebSocketFrame) throws(Failure) -> Event? {
            guard (frame.opcode == .text) == (self.fragments == 0) else { throw .violation }
            var data = frame.data
            guard self.text.readableBytes + data.readableBytes <= self.messageLimit, self.fragments < self.fragmentLimit
            else { throw Failure(code: .messageTooLarge) }
            if frame.fin && self.fragments == 0 { return try Self.message(data) }
            self.text.writeBuffer(&data)
            self.fragments += 1
            guard frame.fin else { return nil }
            defer { (self.text, self.fragments) = (ByteBuffer(), 0) }
            return try Self.message(self.text)
        }

        private static func message(_ data: ByteBuffer) throws(Failure) -> Event {
            guard let text = String(validating: data.readableBytesView, as: UTF8.self) else {
                throw Failure(code: .dataInconsistentWithMessage)
            }
            return .message(text)
        }

        /// RFC 6455: the same code comes back; a close frame has no code, or two bytes of it.
        private static func answer(to data: ByteBuffer) throws(Failure) -> WebSocketErrorCode {
            guard data.readableBytes > 0 else { return .normalClosure }
            guard let code = data.getInteger(at: data.readerIndex, as: UInt16.self) else { throw .violation }
            switch code {
            case 1000...1003, 1007...1014, 3000...4999: return WebSocketErrorCode(codeNumber: Int(code))
            default: throw .violation
            }
        }
    }
#endif
