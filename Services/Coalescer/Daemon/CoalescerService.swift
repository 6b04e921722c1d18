package import Boot
internal import Mesh
package import ServiceLifecycle
internal import Stages
internal import Trust

/// The coalescer: one thread that owns all links. At shutdown it sends held previews.
package enum CoalescerService {
    /// The daemon's process. It starts here and not in `Main.swift`: an incremental build may keep the code compiled
    /// there when the layout of the settings changes.
    package static func main() async {
        await DaemonMain.run(CoalescerSettings.self) { settings, context in
            try CoalescerService.services(settings, context)
        }
    }

    /// The services of a coalescer, in order of dependency.
    /// - Throws: when the process has no descriptor left. A bad endpoint is thrown by `run`.
    package static func services(_ settings: CoalescerSettings, _ context: DaemonContext) throws -> [any Service] {
        let telemetry = CoalescerTelemetry(context)
        let readiness = context.health.check("fanouts")
        let pulse = context.health.pulse("links")
        let sets = StageSets([.fanout: settings.fanouts])
        let links = LinkGuard(settings.linkKeys)
        let reactor = try Reactor(
            name: "coalescer", logger: context.logger, keys: links.keys, beat: pulse.beat
        ) { thread in
            try CoalescerLoop(
                on: thread, name: context.name, settings: settings, sets: sets, telemetry: telemetry,
                readiness: readiness)
        }
        let peersWatch = try links.services(
            context, role: .coalescer, changed: reactor.waker.signal)
        var watch = SetWatch(context, pace: settings.lookups)
        sets.follow(on: &watch, changed: reactor.waker.signal)
        return try peersWatch + watch.services() + [ReactorService(reactor)]
    }
}
