internal import Boot
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
package import Overview
internal import ServiceLifecycle
internal import Timing

/// Scrapes the pages of all listed daemons once a second, on a thread of its own.
///
/// It is a service: ``run()`` scrapes until it is cancelled or shut down, once. What it has scraped can be read at any
/// time, from any thread.
package final class Scraper: Service {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let operatorToken: String?
    private let eventLoop: any EventLoop
    private let probes: NIOLoopBoundBox<DaemonProbes>
    private let list: NIOLockedValueBox<DaemonListFile>
    private let scraped = NIOLockedValueBox(PipelineHistory())

    private static let pause = Duration.seconds(1)
    /// The time and the bytes for a page that somebody asks for.
    private static let patience = TimeAmount.seconds(2)
    private static let pageLimit = 1 << 20

    /// - Parameters:
    ///   - file: the path of the list, see ``DaemonList``; it need not exist yet.
    ///   - operatorToken: what the daemons ask for.
    package init(daemonsFile file: String, operatorToken: String?) {
        self.operatorToken = operatorToken
        let eventLoop = self.group.next()
        self.eventLoop = eventLoop
        self.probes = .makeBoxSendingValue(
            DaemonProbes(operatorToken: operatorToken, on: eventLoop), eventLoop: eventLoop)
        self.list = NIOLockedValueBox(DaemonListFile(file))
    }

    /// Scrapes until graceful shutdown or cancellation.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            let clock = ContinuousClock()
            var due = clock.now
            while !Task.isCancelled {
                await self.scrape()
                // A round that is missed is not made up for.
                due = max(due + Self.pause, clock.now)
                try? await clock.sleep(until: due)
            }
        }
        _ = try? await self.eventLoop.submit { self.probes.value.close() }.get()
        try await self.group.shutdownGracefully()
    }

    /// One round: reads the list if it has changed, and asks all daemons side by side, for less than a second.
    package func scrape() async {
        let daemons = self.list.withLockedValue { list in
            list.refresh()
            return list.daemons ?? []
        }
        let round = self.eventLoop.flatSubmit { self.probes.value.round(daemons) }
        guard let outcomes = try? await round.get() else { return }
        let now = Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds)
        let moment = ScrapeRound(now: now, unixMilliseconds: WallClock.milliseconds())
        self.scraped.withLockedValue { history in
            history.scraped(zip(daemons, outcomes).map { ($0, $1) }, at: moment)
        }
    }

    // MARK: Reading

    /// What has been scraped so far. Its figures cost some computing: not for an event loop that apps wait for.
    package var history: PipelineHistory { self.scraped.withLockedValue { $0 } }

    /// The daemons that are observed, in the order of the list.
    package var daemons: [ListedDaemon.Key] { self.list.withLockedValue { $0.daemons?.map(\.key) ?? [] } }

    /// Why the list of daemons does not count as it is now, such as "does not exist"; nil when it does.
    package var listRefusal: String? { self.list.withLockedValue { $0.refusal } }

    /// Runs what takes long on the scraper's thread.
    /// - Throws: when the scraper has ended.
    package func compute<Result: Sendable>(_ body: @escaping @Sendable (PipelineHistory) -> Result) async throws
        -> Result
    {
        let history = self.history
        return try await self.eventLoop.submit { body(history) }.get()
    }

    /// Fetches a page of a daemon's admin server, such as `/rooms`.
    /// - Throws: an ``AdminFailure``; ``AdminFailure/unreachable(_:)`` also for a daemon that is not listed or not running.
    package func page(_ path: String, of daemon: ListedDaemon.Key) async throws -> AdminAnswer {
        let listed = self.list.withLockedValue { $0.daemons?.first { $0.key == daemon } }
        guard let address = listed?.admin else { throw AdminFailure.unreachable("the daemon does not run") }
        let (eventLoop, token) = (self.eventLoop, self.operatorToken)
        return try await eventLoop.flatSubmit {
            // A connection of its own: rounds do not wait for it.
            let client = AdminClient(address, operatorToken: token, on: eventLoop)
            return client.pages([path], limit: Self.pageLimit, within: Self.patience)
                .assumeIsolated()
                .always { _ in client.close() }
                .flatMapThrowing { answers in
                    guard let answer = answers.first else { throw AdminFailure.silent }
                    return answer
                }
                .nonisolated()
        }.get()
    }
}
