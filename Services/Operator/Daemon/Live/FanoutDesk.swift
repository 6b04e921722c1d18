internal import Boot
internal import JSONBytes
internal import OperatorViews
internal import Overview
internal import Scraping

/// Asks the fan-outs of a pipeline about their rooms.
struct FanoutDesk {
    private let desk: AdminDesk

    /// - Parameters:
    ///   - urls: the fan-outs' admin servers.
    ///   - folder: without those: the data folder of the pipeline whose fan-outs are asked.
    init(urls: [String], folder: DataFolder) throws(OperatorFailure) {
        if !urls.isEmpty {
            var servers: [NamedAdmin] = []
            for url in urls {
                guard let address = AdminAddress(url) else {
                    throw OperatorFailure("--fanout \(url) is not the address of an admin server, http://HOST:PORT")
                }
                servers.append(NamedAdmin(name: address.authority, address: address))
            }
            self.desk = AdminDesk(servers: servers, operatorToken: GivenOperatorToken.value)
            return
        }
        let fanouts = try PsCommand.report(folder).processes.filter { $0.stage == "fanout" }
        let servers = fanouts.compactMap { process in
            process.http.flatMap(AdminAddress.init).map { NamedAdmin(name: process.name, address: $0) }
        }
        guard !servers.isEmpty else { throw OperatorFailure("no fan-out of \(folder.path) is ready yet") }
        self.desk = AdminDesk(servers: servers, operatorToken: try folder.operatorToken())
    }

    /// The first rooms of all fan-outs in an order.
    /// - Throws: when none of them answers.
    func rooms(by sort: RoomSort) throws(OperatorFailure) -> LiveRoomList {
        let (pages, silent) = self.ask("/rooms?sort=\(sort.rawValue)", refusal: { "answers \($0)" })
        if pages.isEmpty, let first = silent.first { throw OperatorFailure("\(first.fanout) \(first.reason)") }
        return LiveRoomList(pages, by: sort, silent: silent)
    }

    /// One room; of two fan-outs that have it, the one with more connections counts.
    /// - Throws: when no fan-out has it.
    func room(_ id: String) throws(OperatorFailure) -> LiveRoomReport {
        let (pages, silent) = self.ask(
            "/rooms?id=\(PercentCoding.encode(id))", refusal: { $0 == 404 ? nil : "answers \($0)" })
        let reports = pages.compactMap { LiveRoomReport($0.json, from: $0.fanout) }
        if let report = reports.max(by: { $0.room.connections < $1.room.connections }) { return report }
        if let first = silent.first {
            throw OperatorFailure("the room \(id) was not found, but \(first.fanout) \(first.reason)")
        }
        throw OperatorFailure("no fan-out has the room \(id) in memory: nobody is in it")
    }

    /// The answers of those that have one.
    /// - Parameter refusal: why another status than 200 is a failure; nil when it only means that there is nothing.
    private func ask(
        _ path: String, refusal: (Int) -> String?
    ) -> (pages: [(fanout: String, json: JSONValue)], silent: [LiveRoomList.Silence]) {
        var pages: [(String, JSONValue)] = []
        var silent: [LiveRoomList.Silence] = []
        for (name, answer) in self.desk.ask(path) {
            switch Self.json(answer, refusal: refusal) {
            case .success(let json?): pages.append((name, json))
            case .success(nil): break
            case .failure(let failure): silent.append(LiveRoomList.Silence(fanout: name, reason: failure.description))
            }
        }
        return (pages, silent)
    }

    /// The JSON of an answer; nil when it only means that there is nothing.
    static func json(
        _ answer: Result<AdminAnswer, AdminFailure>, refusal: (Int) -> String?
    ) -> Result<JSONValue?, OperatorFailure> {
        switch answer {
        case .failure(let failure): return .failure(OperatorFailure(failure.reason))
        case .success(let answer) where answer.refusal != nil:
            return .failure(OperatorFailure(answer.refusal ?? ""))
        case .success(let answer) where answer.status != 200:
            return refusal(answer.status).map { .failure(OperatorFailure($0)) } ?? .success(nil)
        case .success(let answer):
            var document = JSONDocument()
            guard (try? document.parse(answer.body)) != nil else {
                return .failure(OperatorFailure("answers something that is not JSON"))
            }
            return .success(document.root)
        }
    }
}
