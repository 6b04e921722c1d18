import Mesh

/// The ZeroMQ face's socket, on the mesh's thread: a ROUTER that other back ends connect a DEALER to. One message is
/// one Socket.IO packet as text, without Engine.IO around it.
final class FaceSocket {
    private let socket: Socket
    private let frames = Frames(capacity: 2)
    /// Messages taken in one turn, so that a flood starves nobody.
    private static let batch = 256
    /// The longest routing id, bytes (ZMQ_ROUTING_ID).
    private static let maxIdentity = 255

    /// Binds the socket.
    /// - Parameter maxMessage: bytes of the largest message; a peer that sends a larger one is disconnected.
    init(on thread: ReactorThread, endpoint: Endpoint, maxMessage: Int) throws(MeshError) {
        var options = LinkOptions()
        options.maximumMessageBytes = maxMessage
        var socket = try Socket(.router, context: thread.context, thread: thread, options: options)
        _ = try socket.bind(endpoint)
        self.socket = socket
    }

    /// Takes what came since the last turn.
    /// - Returns: true when there may be more.
    func receive(into news: inout [MeshNews]) -> Bool {
        guard self.socket.isReadable else { return false }
        for _ in 0..<Self.batch {
            switch self.socket.receive(into: self.frames) {
            case .message:
                // Anything but [identity][text] is no packet of this face.
                guard self.frames.count == 2, self.frames.byteCount(at: 0) <= Self.maxIdentity else { continue }
                news.append(.face(peer: self.frames.bytes(at: 0), text: self.frames.bytes(at: 1)))
            case .tooManyFrames:
                continue
            case .empty, .terminated:
                return false
            }
        }
        return true
    }

    /// Sends a packet; false when the peer is gone or takes no more.
    func send(_ text: [UInt8], to peer: [UInt8]) -> Bool {
        guard peer.withUnsafeBytes({ self.socket.send($0, more: true) }) == .sent else { return false }
        return text.withUnsafeBytes { self.socket.send($0) } == .sent
    }
}
