#if os(Linux)
    import NIOCore
    import NIOWebSocket

    extension WebSocketFrame {
        /// A whole frame of a client, masked with a key that nobody can guess.
        static func client(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
            WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        }

        static func clientClose(_ code: WebSocketErrorCode) -> WebSocketFrame {
            var data = ByteBuffer()
            data.write(webSocketErrorCode: code)
            return .client(.connectionClose, data)
        }
    }
#endif
