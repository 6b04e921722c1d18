package import Boot
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Stages
internal import Timing

/// Scrapes the pages of all listed daemons once a second, on a thread of its own.
///
/// It is a service: ``run()`` scrapes until it is cancelled or shut down, once. What it has scraped can be read at any
/// time, from any thread.
package final class Scraper: Service {
    private let source: DaemonSource
    private let lookups: LookupPace
    private let operatorToken: String?
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let eventLoop: any EventLoop
    private let probes: NIOLoopBoundBox<DaemonProbes>
    private let directory = NIOLockedValueBox(DaemonDirectory())
    private let scraped = NIOLockedValueBox(PipelineHistory())
    private let onRound: @Sendable () -> Void

    private static let pause = Duration.seconds(1)

    /// - Parameters:
    ///   - source: where the daemons are listed; a file need not exist yet.
    ///   - operatorToken: what the daemons ask for.
    ///   - onRound: called after each round.
    package init(
        _ source: DaemonSource, lookups: LookupPace, operatorToken: String?,
        onRound: @escaping @Sendable () -> Void = {}
    ) {
        self.source = source
        self.lookups = lookups
        self.operatorToken = operatorToken
        self.onRound = onRound
        let eventLoop = self.group.next()
        self.eventLoop = eventLoop
        self.probes = .makeBoxSendingValue(
            DaemonProbes(operatorToken: operatorToken, on: eventLoop), eventLoop: eventLoop)
    }

    /// Scrapes until graceful shutdown or cancellation.
    package func run() async throws {
        // Nobody waits for its end: a lookup cannot be interrupted, and nothing of it is needed any more.
        let lookups = Task { await self.lookUp() }
        await cancelWhenGracefulShutdown {
            let clock = ContinuousClock()
            var due = clock.now
            while !Task.isCancelled {
                await self.scrape()
                self.onRound()
                // A round that is missed is not made up for.
                due = max(due + Self.pause, clock.now)
                try? await clock.sleep(until: due)
            }
        }
        lookups.cancel()
        _ = try? await self.eventLoop.submit { self.probes.value.close() }.get()
        try await self.group.shutdownGracefully()
    }

    /// Looks the names up again and again, one after the other, on a thread that may block.
    private func lookUp() async {
        guard case .names(let names) = self.source else { return }
        while !Task.isCancelled {
            for (stage, name) in names {
                let lookup = { @Sendable in NameLookup.instances(of: name) }
                guard let answer = try? await NIOThreadPool.singleton.runIfActive(lookup) else { return }
                self.directory.withLockedValue {
                    $0.answered(stage, answer, patience: self.lookups.patience, at: Self.now)
                }
            }
            try? await Task.sleep(for: .nanoseconds(self.lookups.pause.count))
        }
    }

    /// One round: asks all daemons side by side, for less than a second.
    private func scrape() async {
        let daemons = self.directory.withLockedValue { directory in
            if case .file(let path) = self.source { directory.read(path) }
            return directory.daemons
        }
        let round = self.eventLoop.flatSubmit { self.probes.value.round(daemons) }
        guard let outcomes = try? await round.get() else { return }
        let moment = ScrapeRound(now: Self.now, unixMilliseconds: WallClock.milliseconds())
        self.scraped.withLockedValue { history in
            history.scraped(zip(daemons, outcomes).map { ($0, $1) }, at: moment)
        }
    }

    private static var now: Instant { Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds) }

    // MARK: Reading

    /// What has been scraped so far.
    package var history: PipelineHistory { self.scraped.withLockedValue { $0 } }

    var daemons: [ListedDaemon] { self.directory.withLockedValue { $0.daemons } }

    /// Why the list of daemons does not count as it is now, such as "does not exist"; nil when it does.
    package var listRefusal: String? { self.directory.withLockedValue { $0.refusal } }

    /// Asks the fan-outs that are listed.
    package var rooms: RoomQueries {
        RoomQueries(
            self.daemons.filter { $0.stage == .fanout }.map { ($0.name, $0.admin) }, operatorToken: self.operatorToken)
    }
}
