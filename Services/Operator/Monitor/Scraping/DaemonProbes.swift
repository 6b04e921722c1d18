internal import NIOCore

/// Asks all listed daemons for their pages, on one event loop.
final class DaemonProbes {
    private let operatorToken: String?
    private let eventLoop: any EventLoop
    private var clients: [ListedDaemon.Key: AdminClient] = [:]

    /// A round lasts no longer than this: it is over before the next one begins.
    private static let patience = TimeAmount.milliseconds(900)
    private static let pages = ["/healthz", "/readyz", "/metrics"]
    private static let limit = 1 << 20

    init(operatorToken: String?, on eventLoop: any EventLoop) {
        self.operatorToken = operatorToken
        self.eventLoop = eventLoop
    }

    /// Asks them side by side.
    func round(_ daemons: [ListedDaemon]) -> EventLoopFuture<[ProbeOutcome]> {
        let known = Set(daemons.map(\.key))
        for (key, client) in self.clients where !known.contains(key) {
            client.close()
            self.clients[key] = nil
        }
        return EventLoopFuture.whenAllSucceed(daemons.map { self.probe($0) }, on: self.eventLoop)
    }

    func close() {
        for client in self.clients.values { client.close() }
        self.clients = [:]
    }

    private func probe(_ daemon: ListedDaemon) -> EventLoopFuture<ProbeOutcome> {
        guard let address = daemon.admin else {
            return self.eventLoop.makeSucceededFuture(daemon.pid == nil ? .notRunning : .starting)
        }
        return self.client(of: daemon, at: address)
            .pages(Self.pages, limit: Self.limit, within: Self.patience)
            .assumeIsolated()
            .map { self.outcome(of: daemon, $0) }
            .flatMapErrorThrowing { Self.outcome($0) }
            .nonisolated()
    }

    private func client(of daemon: ListedDaemon, at address: AdminAddress) -> AdminClient {
        if let client = self.clients[daemon.key], client.address == address { return client }
        self.clients[daemon.key]?.close()
        let client = AdminClient(address, operatorToken: self.operatorToken, on: self.eventLoop)
        self.clients[daemon.key] = client
        return client
    }

    private func outcome(of daemon: ListedDaemon, _ answers: [AdminAnswer]) -> ProbeOutcome {
        guard answers.count == Self.pages.count,
            let health = DaemonHealth(readiness: answers[1].body, liveness: answers[0].body)
        else { return .garbled("Its admin server does not answer like a daemon of this pipeline.") }
        if let refusal = answers[2].refusal { return .garbled("Its admin server \(refusal).") }
        do throws(ExpositionError) {
            let samples = try Exposition.samples(answers[2].body)
            return .answered(DaemonSample(stage: daemon.stage, health: health, samples: samples))
        } catch {
            return .garbled("Line \(error.line) of its metrics \(error.rule).")
        }
    }

    private static func outcome(_ error: any Error) -> ProbeOutcome {
        switch error as? AdminFailure {
        case .unreachable(let reason): .unreachable(reason)
        case .tooLong(let limit): .garbled("Its pages have more than \(limit) bytes.")
        case .malformed: .garbled("Its admin server does not speak HTTP.")
        case .silent, nil: .silent
        }
    }
}
