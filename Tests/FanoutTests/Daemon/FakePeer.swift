import FanoutCore
import Logging
import Mesh
import NIOConcurrencyHelpers
import Stages
import Timing
import Wire

/// A gateway, coalescer or committer as a fan-out sees it: a dialled link in a thread of its own that sends what it is
/// told and keeps what comes.
final class FakePeer: Sendable {
    private let reactor: Reactor
    private let outbox: Mailbox<[UInt8]>
    private let seen = NIOLockedValueBox<[GatewayRecord]>([])
    private let isUp = NIOLockedValueBox(false)
    private let isPaused = NIOLockedValueBox(false)
    private let rests = NIOLockedValueBox(false)

    /// - Parameter receiveMark: messages that its link takes before somebody reads.
    init(name: String, to endpoint: String, receiveMark: Int = 1000) throws {
        let post = NIOLockedValueBox<Mailbox<[UInt8]>?>(nil)
        let logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        self.reactor = try Reactor(name: "peer", logger: logger) { [seen, isUp, isPaused, rests] thread in
            try Loop(
                thread, name: name, to: endpoint, receiveMark: receiveMark, post: post, seen: seen, isUp: isUp,
                isPaused: isPaused, rests: rests)
        }
        let outbox = Mailbox<[UInt8]>(capacity: 1 << 20, waker: self.reactor.waker)
        post.withLockedValue { $0 = outbox }
        self.outbox = outbox
        try self.reactor.start()
    }

    /// Everything that came, in its order.
    var records: [GatewayRecord] { self.seen.withLockedValue { $0 } }
    /// True while the fan-out says that it rests.
    var isResting: Bool { self.rests.withLockedValue { $0 } }
    /// True while the link is up.
    var isConnected: Bool { self.isUp.withLockedValue { $0 } }

    func send(_ records: any WireRecord...) {
        var envelope = EnvelopeWriter()
        for record in records { envelope.append(record) }
        self.send(bytes: envelope.bytes)
    }

    func send(bytes: [UInt8]) {
        _ = self.outbox.offer(bytes)
    }

    /// Reads nothing, or reads again; it goes on showing that it lives.
    func pause(_ isPaused: Bool) {
        self.isPaused.withLockedValue { $0 = isPaused }
        self.reactor.waker.signal()
    }

    func stop() async throws {
        self.reactor.stop()
        try await self.reactor.ended()
    }

    private final class Loop: ReactorLoop {
        private let link: PeerLink
        private let post: NIOLockedValueBox<Mailbox<[UInt8]>?>
        private let seen: NIOLockedValueBox<[GatewayRecord]>
        private let isUp: NIOLockedValueBox<Bool>
        private let isPaused: NIOLockedValueBox<Bool>
        private let rests: NIOLockedValueBox<Bool>
        private var batch: [[UInt8]] = []

        init(
            _ thread: ReactorThread, name: String, to endpoint: String, receiveMark: Int,
            post: NIOLockedValueBox<Mailbox<[UInt8]>?>, seen: NIOLockedValueBox<[GatewayRecord]>,
            isUp: NIOLockedValueBox<Bool>, isPaused: NIOLockedValueBox<Bool>, rests: NIOLockedValueBox<Bool>
        ) throws {
            let identity = LinkIdentity(daemon: name)
            let options = LinkOptions(receiveHighWater: receiveMark)
            self.link = try PeerLink(on: thread, to: Endpoint(endpoint), identity: identity, options: options)
            self.post = post
            self.seen = seen
            self.isUp = isUp
            self.isPaused = isPaused
            self.rests = rests
        }

        func turn(at now: Instant) -> Instant? {
            while !self.isPaused.withLockedValue({ $0 }), let event = self.link.next() {
                if case .message = event { self.read() }
            }
            self.rests.withLockedValue { $0 = self.link.isResting }
            self.isUp.withLockedValue { $0 = self.link.peer != nil }
            self.post.withLockedValue { $0 }?.drain(into: &self.batch)
            for bytes in self.batch { _ = self.link.send(bytes) }
            self.batch.removeAll()
            return nil
        }

        private func read() {
            self.link.incoming.withBytes(at: 0) { bytes in
                guard var reader = try? EnvelopeReader(bytes) else { return }
                while let record = try? reader.next() {
                    guard let record = Self.decode(record.kind, record.fields) else { continue }
                    self.seen.withLockedValue { $0.append(record) }
                }
            }
        }

        private static func decode(_ kind: RecordKind, _ fields: ByteReader) -> GatewayRecord? {
            switch kind {
            case .update: (try? EnvelopeReader.decode(Update.self, fields)).map(GatewayRecord.update)
            case .preview: (try? EnvelopeReader.decode(Preview.self, fields)).map(GatewayRecord.preview)
            case .joinReply: (try? EnvelopeReader.decode(JoinReply.self, fields)).map(GatewayRecord.joinReply)
            case .roomPosition: (try? EnvelopeReader.decode(RoomPosition.self, fields)).map(GatewayRecord.roomPosition)
            case .presence: (try? EnvelopeReader.decode(Presence.self, fields)).map(GatewayRecord.presence)
            case .gestureEnded: (try? EnvelopeReader.decode(GestureEnded.self, fields)).map(GatewayRecord.gestureEnded)
            case .sessionClaimed:
                (try? EnvelopeReader.decode(SessionClaimed.self, fields)).map(GatewayRecord.sessionClaimed)
            case .historyReply:
                (try? EnvelopeReader.decode(HistoryReply.self, fields)).map(GatewayRecord.historyReply)
            case .roomState: (try? EnvelopeReader.decode(RoomState.self, fields)).map(GatewayRecord.roomState)
            default: nil
            }
        }
    }
}
