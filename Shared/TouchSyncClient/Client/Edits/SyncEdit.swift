/// An edit that is shown already, and is sent as soon as it can be. Nobody needs to wait for its result: a refusal is
/// also one of the room's changes.
public struct SyncEdit: Sendable {
    /// The elements that it creates, or changes.
    public let elementIds: [String]
    let promise: Promise<EditResult>

    /// What became of it. It may take as long as there is no connection; cancelling the task does not take the edit
    /// back.
    /// - Throws: `ClientError` when it was refused for good, or the client was closed before there was a result;
    ///   `CancellationError`.
    public var result: EditResult {
        get async throws { try await self.promise.value }
    }
}
