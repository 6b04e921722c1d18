internal import Boot
internal import JSONBytes
internal import NIOCore
internal import NIOPosix

/// Asks the fan-outs of a pipeline about their rooms, side by side, for some seconds at most.
package struct RoomQueries: Sendable {
    private let fanouts: [(name: String, address: AdminAddress?)]
    private let operatorToken: String?

    /// The most bytes of an answer.
    private static let limit = 4 << 20
    private static let patience = TimeAmount.seconds(2)

    /// - Parameter fanouts: names and admin servers; nil for one that does not run.
    package init(_ fanouts: [(name: String, address: AdminAddress?)], operatorToken: String?) {
        self.fanouts = fanouts
        self.operatorToken = operatorToken
    }

    package var count: Int { self.fanouts.count }

    /// The first rooms of all fan-outs in an order.
    package func rooms(by sort: RoomSort) async -> LiveRoomList {
        let (pages, silent) = await self.ask("/rooms?sort=\(sort.rawValue)", refusal: { "answers \($0)" })
        return LiveRoomList(pages, by: sort, silent: silent)
    }

    /// One room; of two fan-outs that have it, the one with more connections counts.
    /// - Returns: no report when no fan-out has it in memory.
    package func room(_ id: String) async -> (report: LiveRoomReport?, silent: [LiveRoomList.Silence]) {
        let (pages, silent) = await self.ask(
            "/rooms?id=\(PercentCoding.encode(id))", refusal: { $0 == 404 ? nil : "answers \($0)" })
        let reports = pages.compactMap { LiveRoomReport($0.json, from: $0.fanout) }
        return (reports.max { $0.room["connections"] < $1.room["connections"] }, silent)
    }

    /// The answers of those that have one, in the order of the fan-outs.
    /// - Parameter refusal: why another status than 200 is a failure; nil when it only means that there is nothing.
    private func ask(
        _ path: String, refusal: (Int) -> String?
    ) async -> (pages: [(fanout: String, json: JSONValue)], silent: [LiveRoomList.Silence]) {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let token = self.operatorToken
        let answers: [EventLoopFuture<[AdminAnswer]>] = self.fanouts.map { fanout in
            guard let address = fanout.address else {
                return eventLoop.makeFailedFuture(AdminFailure.unreachable("it does not run"))
            }
            return eventLoop.flatSubmit {
                let client = AdminClient(address, operatorToken: token, on: eventLoop)
                return client.pages([path], limit: Self.limit, within: Self.patience)
                    .assumeIsolated().always { _ in client.close() }.nonisolated()
            }
        }
        var pages: [(fanout: String, json: JSONValue)] = []
        var silent: [LiveRoomList.Silence] = []
        for (fanout, answer) in zip(self.fanouts, answers) {
            do throws(AdminFailure) {
                guard let page = try await Self.page(answer) else { throw .silent }
                if let reason = page.refusal ?? (page.status == 200 ? nil : refusal(page.status)) {
                    silent.append(LiveRoomList.Silence(fanout: fanout.name, reason: reason))
                } else if page.status == 200 {
                    guard let json = try? JSONValue(parsing: page.body) else { throw .malformed }
                    pages.append((fanout.name, json))
                }
            } catch {
                silent.append(LiveRoomList.Silence(fanout: fanout.name, reason: error.reason))
            }
        }
        return (pages, silent)
    }

    private static func page(_ answers: EventLoopFuture<[AdminAnswer]>) async throws(AdminFailure) -> AdminAnswer? {
        do { return try await answers.get().first } catch { throw error as? AdminFailure ?? .silent }
    }
}
