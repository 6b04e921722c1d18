package import Boot
internal import Mesh
package import ServiceLifecycle
internal import Stages

/// The committer: one thread that owns all links and connections. Asked to stop, it writes, answers and publishes what
/// waits.
package enum CommitterService {
    /// The daemon's process. It begins here and not in `Main.swift`: an incremental build may leave what was compiled
    /// there as it was when the layout of the settings changes.
    package static func main() async {
        await DaemonMain.run(CommitterSettings.self) { settings, context in
            try CommitterService.services(settings, context)
        }
    }

    /// The services of a committer, in order of dependency.
    /// - Throws: when the process has no descriptor left. A bad endpoint or connection string comes out of `run`.
    package static func services(_ settings: CommitterSettings, _ context: DaemonContext) throws -> [any Service] {
        let schema = SchemaGate(isOpen: !settings.migrates)
        let check = context.health.check("database")
        let reactor = try Self.reactor(settings, context, schema, check)
        let upkeep = try UpkeepService(settings, context, check) {
            schema.open()
            reactor.waker.signal()
        }
        return [upkeep, ReactorService(reactor)]
    }

    private static func reactor(
        _ settings: CommitterSettings, _ context: DaemonContext, _ schema: SchemaGate, _ check: ReadinessCheck
    ) throws -> Reactor {
        let telemetry = CommitterTelemetry(context.metrics)
        var reactorSettings = ReactorSettings()
        reactorSettings.drainLimit = settings.drain
        let pulse = context.health.pulse("links")
        return try Reactor(
            name: "committer", settings: reactorSettings, logger: context.logger, beat: pulse.beat
        ) { thread in
            try CommitterLoop(
                on: thread, name: context.name, settings: settings, schema: schema, telemetry: telemetry,
                check: check)
        }
    }
}
