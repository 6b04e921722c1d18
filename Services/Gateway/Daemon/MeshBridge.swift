import Mesh
import NIOConcurrencyHelpers
import NIOCore

/// The two mailboxes between the event loop and the mesh's thread.
final class MeshBridge: Sendable {
    /// Where each mailbox's consumer is, known only once both sides are built.
    private struct Ends {
        var waker: Waker?
        var drain: NIOLoopBound<(NIODeadline) -> Void>?
    }

    /// Envelopes for peers; bounded in bytes.
    let outbox: Mailbox<MeshOrder>
    /// What comes from peers; bounded in bytes.
    let news: Mailbox<MeshNews>
    /// Bytes that may wait in each of them.
    private static let capacity = 32 << 20
    private let ends: NIOLockedValueBox<Ends>

    init(eventLoop: any EventLoop) {
        let ends = NIOLockedValueBox(Ends())
        self.ends = ends
        self.outbox = Mailbox(capacity: Self.capacity) {
            ends.withLockedValue { $0.waker }?.signal()
        }
        self.news = Mailbox(capacity: Self.capacity) {
            let arrival = NIODeadline.now()
            eventLoop.execute { ends.withLockedValue { $0.drain }?.value(arrival) }
        }
    }

    /// Names the consumers. On the event loop, before the mesh's thread starts.
    func connect(hub: GatewayHub, waker: Waker, eventLoop: any EventLoop) {
        let drain = NIOLoopBound({ [weak hub] in hub?.newsArrived(at: $0) ?? () }, eventLoop: eventLoop)
        self.ends.withLockedValue {
            $0.waker = waker
            $0.drain = drain
        }
    }
}
