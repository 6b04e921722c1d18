package import Boot
internal import Mesh
package import ServiceLifecycle

/// The running coalescer: one thread that owns all links.
package final class CoalescerService: Service {
    private let reactor: Reactor

    /// The daemon's process. It begins here and not in `Main.swift`: an incremental build may leave what was compiled
    /// there as it was when the layout of the settings changes.
    package static func main() async {
        await DaemonMain.run(CoalescerSettings.self) { settings, context in
            try CoalescerService.services(settings, context)
        }
    }

    /// The services of a coalescer, in order of dependency.
    /// - Throws: when the process has no descriptor left. A bad endpoint comes out of `run`.
    package static func services(_ settings: CoalescerSettings, _ context: DaemonContext) throws -> [any Service] {
        [try CoalescerService(settings, context)]
    }

    private init(_ settings: CoalescerSettings, _ context: DaemonContext) throws {
        let telemetry = CoalescerTelemetry(context.metrics)
        let readiness = CoalescerReadiness(
            committers: context.health.check("committers"), fanouts: context.health.check("fanouts"))
        let pulse = context.health.pulse("links")
        self.reactor = try Reactor(
            name: "coalescer", logger: context.logger, beat: pulse.beat
        ) { thread in
            try CoalescerLoop(
                on: thread, name: context.name, settings: settings, telemetry: telemetry, readiness: readiness)
        }
    }

    /// Runs until the daemon is told to stop: then what is held leaves, and all links say goodbye.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await self.reactor.run()
        } onGracefulShutdown: {
            self.reactor.stop()
        }
    }
}
