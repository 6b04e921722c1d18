public import Canvas

/// The part of the canvas that a user shares: at first, and whenever it changes; nil while nothing is shared. For one
/// consumer; it ends when the room is left, or the client is closed.
public struct FollowedView: AsyncSequence, Sendable {
    /// Pixels of the canvas.
    public typealias Element = Rect?
    /// It does not fail.
    public typealias Failure = Never

    let room: SyncRoom
    let userId: String
    let changes: RoomChanges

    /// Waits for another view.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let view: FollowedView
        var changes: RoomChanges.AsyncIterator
        /// What was told last; nil: nothing yet.
        private var told: Rect??

        init(of view: FollowedView) {
            self.view = view
            self.changes = view.changes.makeAsyncIterator()
        }

        /// The next view; nil at the end, or when the task is cancelled.
        public mutating func next() async -> Rect?? {
            while true {
                let shared = await self.view.shared
                if self.told != .some(shared) {
                    self.told = .some(shared)
                    return .some(shared)
                }
                guard await self.changes.next() != nil else { return nil }
            }
        }
    }

    /// Begins to wait.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(of: self) }

    private var shared: Rect? {
        get async {
            let member = await self.room.members.first { $0.userId == self.userId }
            return member?.connections.lazy.compactMap(\.viewport).first
        }
    }
}
