import Boot
import Mesh
import NIOCore
import Stages
import Timing

/// The mesh on the event loop: when its links have a turn, and what they bring.
final class GatewayLinks {
    private let descriptors: LoopDescriptors
    private let reactor: GuestReactor
    private let mesh: GatewayMesh
    private let alarm: LoopAlarm

    /// Wakes the loop for a turn of the links, from any thread.
    var waker: Waker { self.reactor.waker }

    /// - Parameter due: called when a turn is due.
    init(
        on eventLoop: any EventLoop, settings: GatewaySettings, sets: StageSets, keys: LinkKeys?,
        context: DaemonContext, telemetry: GatewayTelemetry, due: @escaping () -> Void
    ) throws {
        var mesh: GatewayMesh?
        self.descriptors = LoopDescriptors(eventLoop: eventLoop)
        self.reactor = try GuestReactor(
            on: self.descriptors, logger: context.logger, keys: keys, due: due
        ) { thread in
            let made = try GatewayMesh(
                on: thread, name: context.name, settings: settings, sets: sets, telemetry: telemetry)
            mesh = made
            return made
        }
        guard let mesh else { preconditionFailure("a reactor makes its loop") }
        self.mesh = mesh
        self.alarm = LoopAlarm(eventLoop: eventLoop)
        self.alarm.ring = due
    }

    /// Looks whether they have something, before the loop does.
    var areDue: Bool { self.reactor.isDue() }

    /// They are about to be used although the loop has not yet handled all that it found.
    func standBack() { self.descriptors.standBack() }

    /// Lets the links have their turn.
    /// - Returns: what they brought.
    func turn() -> [MeshNews] {
        self.alarm.set(self.reactor.turn())
        return self.mesh.takeNews()
    }

    /// Sends what the hub has decided.
    func send(_ orders: [MeshOrder]) {
        self.mesh.send(orders)
        if self.reactor.isDueAfterUse() || self.mesh.hasNews { self.alarm.set(MonotonicClock.now()) }
    }

    /// Says goodbye to all stages.
    func close() { self.reactor.close() }
}
