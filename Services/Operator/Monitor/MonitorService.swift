internal import Boot
internal import CMonitorPages

/// The daemon behind `touchsync monitor`: it scrapes the others, and serves the page for operators and what that is made
/// of at its admin server.
///
///     GET /                    the page, and the files that it loads: to everybody
///     GET /handbook            likewise
///     GET /overview?since=T    what is known, and the history from column T on
///     GET /rooms               the most active rooms of all fan-outs
///     GET /rooms?id=ROOM       one room
package enum MonitorService {
    /// The daemon's process.
    package static func main(_ arguments: [String]) async -> Never {
        await DaemonMain.run(MonitorSettings.self, arguments: arguments) { settings, context in
            let pulse = context.health.pulse("rounds")
            let scraper = Scraper(settings.daemons, lookups: settings.lookups, operatorToken: settings.operatorToken) {
                pulse.beat()
            }
            self.addPages(to: context.pages, scraper)
            return [scraper]
        }
    }

    /// Computing an overview takes some milliseconds, for which nobody else waits on the admin server's thread.
    private static func addPages(to pages: AdminPages, _ scraper: Scraper) {
        for file in MonitorFile.all {
            let page = AdminPage(contentType: file.contentType, body: file.content)
            pages.add(file.path, isOpen: true) { page }
        }
        pages.add(
            "/overview",
            ask: { question in
                let since = question.parameter("since").flatMap(UInt64.init) ?? 0
                question.answer {
                    Self.json(scraper.history.json(since: since, listRefusal: scraper.listRefusal))
                }
            })
        pages.add(
            "/rooms",
            ask: { question in
                let room = question.parameter("id")
                Task {
                    let page = await Self.rooms(scraper.rooms, room)
                    question.answer { page }
                }
            })
    }

    private static func rooms(_ queries: RoomQueries, _ room: String?) async -> AdminPage {
        guard let room else { return self.json(await queries.rooms(by: .activity).json.utf8) }
        let (report, silent) = await queries.room(room)
        if let report { return self.json(report.json.utf8) }
        let reasons = silent.map { "\($0.fanout) \($0.reason)." }.joined(separator: " ")
        let text = reasons.isEmpty ? "No fan-out has this room in memory." : reasons
        return AdminPage(status: 404, body: "\(text)\n".utf8)
    }

    private static func json(_ text: some Sequence<UInt8>) -> AdminPage {
        AdminPage(contentType: "application/json", body: text)
    }
}

/// A file of the page for operators, as it stands in `web`.
private struct MonitorFile: Sendable {
    let path: String
    let contentType: String
    let content: [UInt8]

    private init(_ file: monitor_file) {
        self.path = String(cString: file.path)
        self.contentType = String(cString: file.type) + "; charset=utf-8"
        self.content = Array(String(cString: file.content).utf8)
    }

    static let all = Array(
        sequence(state: 0 as Int32) { index in
            defer { index += 1 }
            return monitor_file(index).map { MonitorFile($0.pointee) }
        })
}
