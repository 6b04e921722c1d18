package import Boot
internal import Mesh
package import ServiceLifecycle
internal import Stages
internal import Trust

/// The committer: one thread that owns all links and connections. At shutdown it writes, answers and publishes pending
/// commits.
package enum CommitterService {
    /// The daemon's process. It starts here and not in `Main.swift`: an incremental build may keep the code compiled
    /// there when the layout of the settings changes.
    package static func main() async {
        await DaemonMain.run(CommitterSettings.self) { settings, context in
            try CommitterService.services(settings, context)
        }
    }

    /// The services of a committer, in order of dependency.
    /// - Throws: when the process has no descriptor left. A bad endpoint or connection string is thrown by `run`.
    package static func services(_ settings: CommitterSettings, _ context: DaemonContext) throws -> [any Service] {
        let schema = SchemaGate()
        let check = context.health.check("database")
        let rules = RulesInbox()
        let sets = StageSets([.fanout: settings.fanouts])
        let links = LinkGuard(settings.linkKeys)
        let reactor = try Self.reactor(settings, context, sets, links, schema, rules, check)
        let upkeep = try UpkeepService(settings, context, check) {
            schema.open()
            reactor.waker.signal()
        }
        let rulesWatch = try RulesWatch.services(settings.rules, context) { table in
            rules.put(table)
            reactor.waker.signal()
        }
        let peersWatch = try links.services(
            context, role: .committer, changed: reactor.waker.signal)
        var watch = SetWatch(context, pace: settings.lookups)
        sets.follow(on: &watch, changed: reactor.waker.signal)
        return try rulesWatch + peersWatch + watch.services() + [upkeep, ReactorService(reactor)]
    }

    private static func reactor(
        _ settings: CommitterSettings, _ context: DaemonContext, _ sets: StageSets, _ links: LinkGuard,
        _ schema: SchemaGate,
        _ rules: RulesInbox, _ check: ReadinessCheck
    ) throws -> Reactor {
        let telemetry = CommitterTelemetry(context)
        let pulse = context.health.pulse("links")
        return try Reactor(
            name: "committer", drainLimit: settings.drain, logger: context.logger, keys: links.keys, beat: pulse.beat
        ) { thread in
            try CommitterLoop(
                on: thread, name: context.name, settings: settings, sets: sets, schema: schema, rules: rules,
                telemetry: telemetry, check: check)
        }
    }
}
