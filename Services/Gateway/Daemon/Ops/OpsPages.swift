import Boot
import JSONBytes
import NIOCore
import Overview
import Scraping
import SocketIO
import SocketIOServer
import Wire

/// The data behind the page `/ops`: what a scraper knows of the pipeline, for those who may see it. The scraper computes
/// on its own thread; apps on the gateway's event loop wait for nothing here.
///
///     GET /ops/overview?since=T      the overview, and the history from column T on
///     GET /ops/rooms                 the most active rooms of each fan-out
///     GET /ops/rooms?id=ROOM         one room
final class OpsPages {
    private let scraper: Scraper?
    private let access: OperatorAccess
    private let door: GatewayDoor
    private let eventLoop: any EventLoop
    private let refusals: CounterFamily<OperatorAccess.Refusal>
    private let unchecked: Counter

    /// - Parameter scraper: nil when this gateway observes nothing.
    init(
        _ scraper: Scraper?, access: OperatorAccess, door: GatewayDoor, eventLoop: any EventLoop,
        metrics: MetricsRegistry
    ) {
        self.scraper = scraper
        self.access = access
        self.door = door
        self.eventLoop = eventLoop
        let name = "touchsync_gateway_ops_refusals_total"
        let help = "Requests for the operator's page that were refused."
        self.refusals = metrics.counters(name, help, label: "reason", of: OperatorAccess.Refusal.self)
        self.unchecked = metrics.counter(name, help, labels: ["reason": "rate"])
    }

    /// What a path below `/ops/` stands for.
    enum Resource: String {
        case overview = "/ops/overview"
        case rooms = "/ops/rooms"
    }

    /// Answers a request for one of these, whatever its method.
    func handle(_ request: HTTPRequest, _ resource: Resource, _ respond: @escaping (HTTPResponse) -> Void) {
        if let refusal = self.refusal(of: request) { return respond(refusal) }
        guard let scraper = self.scraper else { return respond(HTTPPages.json(200, Self.nothingScraped)) }
        switch resource {
        case .overview:
            let since = request.head.queryValue("since").flatMap(UInt64.init) ?? 0
            self.later(respond) { await Self.overview(scraper, since: since) }
        case .rooms:
            let path = request.head.queryValue("id").map { "/rooms?id=\(PercentCoding.encode($0))" } ?? "/rooms"
            self.later(respond) { await Self.rooms(scraper, path) }
        }
    }

    // MARK: Access

    /// The answer to a request that is refused, and counted; nil for an operator's.
    private func refusal(of request: HTTPRequest) -> HTTPResponse? {
        let field = request.head.headerCount("authorization") == 1 ? request.head.header("authorization") : nil
        if field != nil, self.access.isPossible, !self.door.mayCheckToken(counted: request.limitedAddress) {
            self.unchecked.add()
            return HTTPPages.refusal(
                Refusal(.rateLimited, "Tokens are presented too often.", retryAfterMs: 1000))
        }
        guard let refusal = self.access.refusal(authorization: field) else { return nil }
        self.refusals[refusal].add()
        return HTTPPages.refusal(refusal)
    }

    // MARK: Answers

    /// Answers when something that takes a while is done, elsewhere.
    private func later(
        _ respond: @escaping (HTTPResponse) -> Void, _ body: @escaping @Sendable () async -> [UInt8]?
    ) {
        self.eventLoop.makeFutureWithTask(body).assumeIsolated().whenComplete { result in
            let body = (try? result.get()).flatMap { $0 }
            respond(body.map { HTTPPages.json(200, $0) } ?? HTTPResponse(status: 503))
        }
    }

    private static let nothingScraped = JSONWriter.text { $0.member("scraping", false) }

    /// - Returns: nil when the scraper has ended.
    private static func overview(_ scraper: Scraper, since: UInt64) async -> [UInt8]? {
        let refusal = scraper.listRefusal
        return try? await scraper.compute { history in
            JSONWriter.text { writer in
                writer.member("scraping", true)
                writer.member("listRefusal", refusal)
                writer.key("pipeline")
                writer.raw(history.json(since: since))
            }
        }
    }

    /// The answers of all fan-outs, which are asked only when somebody looks.
    private static func rooms(_ scraper: Scraper, _ path: String) async -> [UInt8]? {
        let fanouts = scraper.daemons.filter { $0.stage == .fanout }
        let answers = await withTaskGroup(of: (String, AdminAnswer?).self) { group in
            for fanout in fanouts {
                group.addTask { (fanout.name, try? await scraper.page(path, of: fanout)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return JSONWriter.text { writer in
            writer.objects("fanouts", fanouts) { fanout, writer in
                self.write(fanout.name, answers[fanout.name], into: &writer)
            }
        }
    }

    private static func write(_ name: String, _ answer: AdminAnswer?, into writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("status", answer?.status ?? 0)
        guard let answer, answer.status == 200, let text = self.object(answer.body) else { return }
        writer.key("answer")
        writer.raw(text)
    }

    /// The text if it is a JSON object; nil for anything else, which must not break the answer around it.
    private static func object(_ text: [UInt8]) -> [UInt8]? {
        var document = JSONDocument()
        guard (try? document.parse(text)) != nil, document.root.kind == .object else { return nil }
        return text
    }
}
