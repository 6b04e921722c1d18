package import Boot
internal import Mesh
internal import ServiceLifecycle
package import Timing

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
