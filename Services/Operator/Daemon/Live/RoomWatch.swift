internal import JSONBytes
internal import NIOConcurrencyHelpers
internal import OperatorViews
internal import Overview
internal import Scraping

/// The latest list of rooms, which the fan-outs are asked for one after the other.
final class RoomWatch: Sendable {
    private let scraper: Scraper
    private let list = NIOLockedValueBox<LiveRoomList?>(nil)

    init(_ scraper: Scraper) {
        self.scraper = scraper
    }

    /// nil before the first answer.
    var latest: LiveRoomList? { self.list.withLockedValue { $0 } }

    /// Asks all fan-outs.
    func refresh(by sort: RoomSort) async {
        var pages: [(fanout: String, json: JSONValue)] = []
        var silent: [LiveRoomList.Silence] = []
        for instance in self.scraper.history.overview[.fanout].instances {
            let name = instance.daemon.name
            switch FanoutDesk.json(await self.answer(instance.daemon.key, by: sort), refusal: { "answers \($0)" }) {
            case .success(let json): if let json { pages.append((name, json)) }
            case .failure(let failure):
                silent.append(LiveRoomList.Silence(fanout: name, reason: failure.description))
            }
        }
        let list = LiveRoomList(pages, by: sort, silent: silent)
        if !Task.isCancelled { self.list.withLockedValue { $0 = list } }
    }

    private func answer(_ fanout: ListedDaemon.Key, by sort: RoomSort) async -> Result<AdminAnswer, AdminFailure> {
        do {
            return .success(try await self.scraper.page("/rooms?sort=\(sort.rawValue)", of: fanout))
        } catch {
            return .failure(error as? AdminFailure ?? .silent)
        }
    }
}
