internal import CZeroMQ
internal import Logging
internal import Timing
internal import Trust

/// Answers libzmq's questions about the keys of new connections: admitted are those that the peers file lists for a role
/// that the bound socket serves. Created before any socket is bound, or libzmq would find nobody to ask.
final class ZapHandler {
    private static let endpoint = "inproc://zeromq.zap.01"
    private let core: SocketCore
    private unowned let thread: ReactorThread
    /// The roles that each bound socket serves, by its domain.
    private var roles: [String: PeerRoles] = [:]

    init(on thread: ReactorThread) throws(MeshError) {
        let core = try SocketCore(thread.context, kind: ZMQ_REP, thread: thread)
        _ = mesh_set_int(core.pointer, ZMQ_LINGER, 0)
        guard zmq_bind(core.pointer, Self.endpoint) == 0 else {
            throw MeshError(errno: zmq_errno(), "cannot answer for the keys of peers")
        }
        self.core = core
        self.thread = thread
        thread.register(self)
    }

    /// A new domain, for a socket that serves these roles.
    func domain(admitting roles: PeerRoles) -> String {
        let domain = "link-\(self.roles.count)"
        self.roles[domain] = roles
        return domain
    }

    private func answer(_ parts: [[UInt8]]) -> [[UInt8]] {
        guard let request = ZapRequest(parts), let served = self.roles[request.domain] else {
            return ZapRequest.refusal(of: parts.count > 1 ? parts[1] : [])
        }
        let roles = self.thread.peers.roles(of: request.key)
        if !roles.isDisjoint(with: served) { return request.admission }
        self.thread.refused(
            roles.isEmpty ? .unknownKey : .otherRole,
            [
                "mesh.address": "\(request.address)", "mesh.key": "\(request.key)", "mesh.key.roles": "\(roles)",
                "mesh.served": "\(served)",
            ])
        return ZapRequest.refusal(of: request.id)
    }

    private func next() -> [[UInt8]]? {
        guard let pointer = self.core.pointer else { return nil }
        var parts: [[UInt8]] = []
        var isMore = true
        while isMore {
            var part = zmq_msg_t()
            zmq_msg_init(&part)
            defer { zmq_msg_close(&part) }
            guard mesh_recv(&part, pointer) >= 0 else {
                self.core.isReadable = false
                return nil
            }
            parts.append([UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(&part), count: zmq_msg_size(&part))))
            isMore = zmq_msg_more(&part) != 0
        }
        self.core.isTouched = true
        return parts
    }

    private func send(_ parts: [[UInt8]]) {
        guard let pointer = self.core.pointer else { return }
        for (index, part) in parts.enumerated() {
            _ = part.withUnsafeBytes {
                mesh_send_bytes(pointer, $0.baseAddress, $0.count, index + 1 < parts.count ? 1 : 0)
            }
        }
        self.core.isTouched = true
    }
}

extension ZapHandler: ReactorLink {
    var deadline: Instant? { nil }

    func needsTurn(at now: Instant) -> Bool { self.core.isReadable }

    func turn(at now: Instant) {
        for _ in 0..<messagesPerTurn {
            guard let question = self.next() else { return }
            self.send(self.answer(question))
        }
    }

    func peersChanged(at now: Instant) {}

    func close() { self.core.close() }
}

/// libzmq's question about the key of a connection (ZeroMQ RFC 27), and the answer.
///
/// Question, one part each: version "1.0", request id, domain, address, routing id, mechanism, key. Answer: version,
/// request id, status, its text, user id, metadata.
struct ZapRequest: Equatable {
    let id: [UInt8]
    let domain: String
    /// The IP address of the other side, as libzmq names it.
    let address: String
    let key: PublicKey

    /// nil for another version, mechanism or number of parts.
    init?(_ parts: [[UInt8]]) {
        guard parts.count == 7, parts[0] == Array("1.0".utf8), parts[5] == Array("CURVE".utf8),
            let key = PublicKey(parts[6])
        else { return nil }
        self.id = parts[1]
        self.domain = String(decoding: parts[2], as: UTF8.self)
        self.address = String(decoding: parts[3], as: UTF8.self)
        self.key = key
    }

    /// Admits the key. Its text becomes the user id of everything that comes over the connection.
    var admission: [[UInt8]] { Self.answer(self.id, status: "200", text: "OK", userID: self.key.description) }

    /// Refuses the key for good. The other side learns the status only.
    static func refusal(of id: [UInt8]) -> [[UInt8]] { self.answer(id, status: "400", text: "refused", userID: "") }

    private static func answer(_ id: [UInt8], status: String, text: String, userID: String) -> [[UInt8]] {
        [Array("1.0".utf8), id, Array(status.utf8), Array(text.utf8), Array(userID.utf8), []]
    }
}
