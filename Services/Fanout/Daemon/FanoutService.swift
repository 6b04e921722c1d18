package import Boot
internal import Mesh
package import ServiceLifecycle
internal import Stages
internal import Trust

/// The fan-out: one thread that owns all links and connections. Asked to stop, it sends what waits, and gateways that
/// hear the goodbye turn to another fan-out.
package enum FanoutService {
    /// The daemon's process. It begins here and not in `Main.swift`: an incremental build may leave what was compiled
    /// there as it was when the layout of the settings changes.
    package static func main() async {
        await DaemonMain.run(FanoutSettings.self) { settings, context in
            try FanoutService.services(settings, context)
        }
    }

    /// The services of a fan-out, in order of dependency.
    /// - Throws: when the process has no descriptor left. A bad endpoint or connection string comes out of `run`.
    package static func services(_ settings: FanoutSettings, _ context: DaemonContext) throws -> [any Service] {
        let telemetry = FanoutTelemetry(context)
        let check = context.health.check("database")
        let differences = context.health.note("rules of committers")
        let rules = RulesInbox()
        let questions = Mailbox<RoomQuestion>(capacity: AdminServer.connectionLimit) {}
        let pulse = context.health.pulse("links")
        let links = LinkGuard(settings.linkKeys)
        let reactor = try Reactor(
            name: "fanout", drainLimit: settings.drain, logger: context.logger, keys: links.keys, beat: pulse.beat
        ) { thread in
            try FanoutLoop(
                on: thread, name: context.name, settings: settings, rules: rules, questions: questions,
                telemetry: telemetry, check: check, differences: differences)
        }
        RoomPages.add(to: context.pages, asking: questions, waking: reactor.waker.signal)
        let rulesWatch = try RulesWatch.services(settings.rules, context) { table in
            rules.put(table)
            reactor.waker.signal()
        }
        let peersWatch = try links.services(
            context, role: .fanout, changed: reactor.waker.signal)
        return rulesWatch + peersWatch + [ReactorService(reactor)]
    }
}
