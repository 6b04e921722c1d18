internal import JSONBytes
internal import NIOConcurrencyHelpers

package struct AdminPage: Sendable {
    package var status: Int
    package var contentType: String
    package var body: [UInt8]

    package init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", body: some Sequence<UInt8>) {
        self.status = status
        self.contentType = contentType
        self.body = Array(body)
    }
}

/// How a page of the admin server comes about.
enum AdminSource: Sendable {
    /// It is made on the admin server's thread.
    case page(@Sendable () -> AdminPage)
    /// Another thread is asked for it.
    case question(@Sendable (AdminQuestion) -> Void)
}

/// The pages of the admin server, by path.
package final class AdminPages: Sendable {
    private let sources = NIOLockedValueBox<[String: (source: AdminSource, isOpen: Bool)]>([:])

    package init() {}

    /// `/healthz`, `/readyz` and `/metrics`.
    package convenience init(health: Health, metrics: MetricsRegistry) {
        self.init()
        self.add("/healthz", isOpen: true) { Self.liveness(health.stalled) }
        self.add("/readyz", isOpen: true) { Self.readiness(health.current, notes: health.notes) }
        self.add("/metrics") {
            AdminPage(contentType: "text/plain; version=0.0.4; charset=utf-8", body: metrics.text().utf8)
        }
    }

    /// Adds a page. It is generated on the admin server's thread for each GET and must not block.
    /// - Parameters:
    ///   - path: such as `/rooms`, without a query.
    ///   - isOpen: whether it needs no operator's token.
    package func add(_ path: String, isOpen: Bool = false, page: @escaping @Sendable () -> AdminPage) {
        self.sources.withLockedValue { $0[path] = (.page(page), isOpen) }
    }

    /// Adds a page that another thread answers.
    /// - Parameter ask: called on the admin server's thread for each GET; it must not block. Without an answer within
    ///   ``AdminServer/patience`` the client gets 503.
    package func add(_ path: String, ask: @escaping @Sendable (AdminQuestion) -> Void) {
        self.sources.withLockedValue { $0[path] = (.question(ask), false) }
    }

    /// The page at a path; nil when there is none that is made here.
    package func page(at path: String) -> AdminPage? {
        // Generated outside the lock: a page may be slow, and may request others.
        guard case .page(let make) = self.source(at: path)?.source else { return nil }
        return make()
    }

    /// How the page at a path comes about; nil when there is none.
    func source(at path: String) -> (source: AdminSource, isOpen: Bool)? {
        self.sources.withLockedValue { $0[path] }
    }

    /// Serving this page only proves that the admin server runs; the daemon's own loops prove themselves by their
    /// pulses.
    private static func liveness(_ stalled: [(name: String, seconds: UInt64)]) -> AdminPage {
        guard !stalled.isEmpty else { return AdminPage(body: "ok\n".utf8) }
        let lines = stalled.map { "stalled: \($0.name) has not turned for \($0.seconds) s\n" }.joined()
        return AdminPage(status: 503, body: lines.utf8)
    }

    private static func readiness(_ state: HealthState, notes: [HealthState.Reason]) -> AdminPage {
        func write(_ reason: HealthState.Reason, into writer: inout JSONWriter) {
            writer.member("check", reason.check)
            writer.member("reason", reason.text)
        }
        let text = JSONWriter.text { writer in
            writer.member("ready", state.isReady)
            writer.objects("reasons", state.reasons, write)
            if !notes.isEmpty { writer.objects("notes", notes, write) }
        }
        return AdminPage(status: state.isReady ? 200 : 503, contentType: "application/json", body: text)
    }
}
