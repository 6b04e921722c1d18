import TouchSyncClient

/// What one task tells another, in order.
struct Notes<Note: Sendable>: Sendable {
    private let stream: AsyncStream<Note>
    private let continuation: AsyncStream<Note>.Continuation

    init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

    func add(_ note: Note) { self.continuation.yield(note) }

    /// The next one; nil if the task is cancelled.
    func next() async -> Note? {
        var iterator = self.stream.makeAsyncIterator()
        return await iterator.next()
    }
}

/// The description of the `TransportError` that `body` throws.
func transportFailure(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? TransportError)?.description ?? "another error: \(error)"
    }
}
