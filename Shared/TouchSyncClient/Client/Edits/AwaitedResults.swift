import TouchSyncClientCore

/// Results that are still to come, by the names of edits.
final class AwaitedResults: Sendable {
    private let promises = Locked<[String: Promise<EditResult>]>([:])

    init() {}

    deinit { self.close() }

    func expect(_ id: String, _ promise: Promise<EditResult>) {
        self.promises.withLock { $0[id] = promise }
    }

    /// Who waits for a result; nobody for that of an edit that an earlier run of the app made.
    func take(_ id: String) -> Promise<EditResult>? {
        self.promises.withLock { $0.removeValue(forKey: id) }
    }

    /// Nothing comes any more.
    func close() {
        let promises = self.promises.withLock { promises in
            defer { promises = [:] }
            return promises
        }
        for (_, promise) in promises { promise.settle(.failure(ClientError.closed)) }
    }
}
