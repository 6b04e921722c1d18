import TouchSyncClientCore

/// Results that are still to come, by the names of edits.
final class AwaitedResults: Sendable {
    private let promises = Locked<[String: Promise<EditResult>]>([:])

    deinit { self.close() }

    func expect(_ id: String, _ promise: Promise<EditResult>) {
        self.promises.withLock { $0[id] = promise }
    }

    /// An edit has its answer. Nobody waits for that of an edit that an earlier run of the app made.
    /// - Returns: why it was refused; nil when it was not.
    func settle(_ id: String, _ answer: EditAnswer) -> ClientError? {
        let promise = self.promises.withLock { $0.removeValue(forKey: id) }
        if let result = EditResult(answer) {
            promise?.settle(.success(result))
            return nil
        }
        if let error = answer.error { promise?.settle(.failure(error)) }
        return answer.error
    }

    func close() {
        let promises = self.promises.withLock { promises in
            defer { promises = [:] }
            return promises
        }
        for (_, promise) in promises { promise.settle(.failure(ClientError.closed)) }
    }
}
