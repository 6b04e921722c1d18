/// What happens in a room from the moment on in which this was taken from it. It ends when the room is left, or the
/// client is closed.
///
/// For one consumer; each one takes its own. A slow one gets several changes as one: the union of their elements. While
/// others move something, changes come at least 8 ms after each other.
public struct RoomChanges: AsyncSequence, Sendable {
    /// What the sequence is made of.
    public typealias Element = RoomChange
    /// It does not fail.
    public typealias Failure = Never

    let mailbox: ChangeMailbox

    /// The least time between two reports of movements, half a frame: each report wakes a thread.
    private static let pause = Duration.milliseconds(8)

    /// Waits for changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let mailbox: ChangeMailbox
        /// When the next change may be told.
        private var restsUntil: ContinuousClock.Instant?

        init(mailbox: ChangeMailbox) {
            self.mailbox = mailbox
        }

        /// The next change; nil at the end, or when the task is cancelled.
        public mutating func next() async -> RoomChange? {
            if let restsUntil { try? await ContinuousClock().sleep(until: restsUntil) }
            self.restsUntil = nil
            while true {
                if let change = self.mailbox.next() {
                    if case .moving = change { self.restsUntil = .now + RoomChanges.pause }
                    return change
                }
                var wakes = self.mailbox.wakes.makeAsyncIterator()
                if await wakes.next() == nil { return self.mailbox.next() }
            }
        }
    }

    /// Begins to wait.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mailbox: self.mailbox) }
}

/// What one consumer has not heard yet.
final class ChangeMailbox: Sendable {
    let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let pending = Locked(PendingChanges())

    init() {
        (self.wakes, self.wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func tell(_ change: RoomChange) {
        self.pending.withLock { $0.add(change) }
        self.wake.yield()
    }

    func next() -> RoomChange? { self.pending.withLock { $0.next() } }

    func finish() { self.wake.finish() }
}
