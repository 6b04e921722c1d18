import Logging
import Mesh
import Trust

/// The ZeroMQ face's socket: a ROUTER that other back ends connect a DEALER to. One message is
/// one Socket.IO packet as text, without Engine.IO around it. Over TCP the keys of back ends must be listed, if there are
/// keys. Everybody gets a routing id that the ROUTER generates: one that a peer chose could be chosen again by the next.
final class FaceSocket {
    private let thread: ReactorThread
    private let socket: Socket
    private let isGuarded: Bool
    private var peersVersion: Int
    private let frames = Frames(capacity: 2)
    /// Messages taken in one turn, so that a flood starves nobody.
    private static let batch = 256

    /// Binds the socket.
    /// - Parameter maxMessage: bytes of the largest message; a peer that sends a larger one is disconnected.
    init(on thread: ReactorThread, endpoint: Endpoint, maxMessage: Int) throws(MeshError) {
        var options = LinkOptions()
        options.maximumMessageBytes = maxMessage
        let security = thread.security(binding: endpoint, admitting: PeerRoles(.backend))
        var socket = try Socket(.router, context: thread.context, thread: thread, options: options, security: security)
        _ = try socket.bind(endpoint)
        self.socket = socket
        self.thread = thread
        self.isGuarded = security != nil
        self.peersVersion = thread.peersVersion
    }

    /// Takes what came since the last turn.
    /// - Returns: true when there may be more.
    func receive(into news: inout [FaceNews]) -> Bool {
        if self.peersVersion != self.thread.peersVersion {
            self.peersVersion = self.thread.peersVersion
            news.append(.backEndsChanged(self.thread.peers))
        }
        guard self.socket.isReadable else { return false }
        for _ in 0..<Self.batch {
            switch self.socket.receive(into: self.frames) {
            case .message:
                // Anything but [identity][text] is no packet of this face.
                guard self.frames.count == 2 else { continue }
                if let item = self.item { news.append(item) }
            case .tooManyFrames:
                continue
            case .empty, .terminated:
                return false
            }
        }
        return true
    }

    /// The message in `frames`; nil from a back end whose key was removed while it was connected.
    private var item: FaceNews? {
        let peer = self.frames.bytes(at: 0)
        guard self.frames.isRoutingIDGenerated else { return .namedItself(peer: peer) }
        let key = self.isGuarded ? self.frames.senderKey : nil
        if self.isGuarded {
            let roles = key.map(self.thread.peers.roles) ?? []
            guard roles.contains(PeerRoles(.backend)) else {
                self.thread.refused(.removed, ["mesh.link": "face"])
                return nil
            }
        }
        return .packet(peer: peer, key: key, text: self.frames.bytes(at: 1))
    }

    /// Sends a packet; false when the peer is gone or takes no more.
    func send(_ text: [UInt8], to peer: [UInt8]) -> Bool {
        guard peer.withUnsafeBytes({ self.socket.send($0, more: true) }) == .sent else { return false }
        return text.withUnsafeBytes { self.socket.send($0) } == .sent
    }
}
