package import Boot
internal import Mesh
package import ServiceLifecycle
package import Timing

/// Collects the sets of a daemon that may change while it runs, and follows their sources: all files on one thread, all
/// names on another.
package struct SetWatch {
    private let context: DaemonContext
    private let pace: LookupPace
    private var files: [WatchedFile] = []
    private var names: [(name: DNSName, set: FollowedSet)] = []

    /// Nothing to follow yet.
    package init(_ context: DaemonContext, pace: LookupPace) {
        self.context = context
        self.pace = pace
    }

    /// Follows one set.
    /// - Parameters:
    ///   - setting: its name, such as `fanouts`.
    ///   - adopt: called with each other set, on a thread that may block.
    package mutating func follow(
        _ list: InstanceList, _ setting: String, adopt: @escaping @Sendable ([PeerAddress]) -> Void
    ) {
        let report = SetReport(setting, source: list.source.place, self.context)
        let followed = FollowedSet(list, patience: self.pace.patience, report: report, adopt: adopt)
        switch list.source {
        case .list: break
        case .file(let path): self.files.append(WatchedFile(path, stamp: list.stamp, contents: followed))
        case .name(let name): self.names.append((name, followed))
        }
    }

    /// The services that follow the sources; none when all sets are lists.
    /// - Throws: when the process has no descriptor left.
    package func services() throws -> [any Service] {
        var services: [any Service] = []
        if !self.files.isEmpty { services += try FileWatch.services(self.files, name: "instances", self.context) }
        if !self.names.isEmpty { services.append(try NameWatch(self.names, every: self.pace.pause, self.context)) }
        return services
    }
}

/// Looks names up again and again, one after the other, on a thread of its own: the system's resolver blocks for as long
/// as its servers do not answer.
package struct NameWatch: Service {
    private let reactor: Reactor

    /// - Parameter pause: from the end of a round of lookups to the next one.
    /// - Throws: when the process has no descriptor left.
    package init(
        _ names: [(name: DNSName, set: FollowedSet)], every pause: Nanoseconds, _ context: DaemonContext
    ) throws {
        self.reactor = try Reactor(name: "names", logger: context.logger) { _ in NameLoop(names, pause) }
    }

    /// Does not wait for the thread's end: a lookup cannot be interrupted, and nothing of it is needed any more.
    package func run() async throws {
        try self.reactor.start()
        try? await gracefulShutdown()
        self.reactor.stop()
    }
}

/// Each turn looks all names up. The thread has no links, so it may block.
private final class NameLoop: ReactorLoop {
    private var names: [(name: DNSName, set: FollowedSet)]
    private let pause: Nanoseconds

    init(_ names: [(name: DNSName, set: FollowedSet)], _ pause: Nanoseconds) {
        self.names = names
        self.pause = pause
    }

    func turn(at now: Instant) -> Instant? {
        for index in self.names.indices {
            let answer = NameLookup.instances(of: self.names[index].name)
            self.names[index].set.lookedUp(answer, at: MonotonicClock.now())
        }
        return MonotonicClock.now() + self.pause
    }
}
