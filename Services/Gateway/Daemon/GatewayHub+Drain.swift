import GatewayCore
import SocketIO
import SocketIOServer
import Stages
import Timing

extension GatewayHub {
    /// Announces to all apps that this gateway is about to stop, and draws when each is closed.
    /// - Parameter spread: over how long they are closed.
    func announceDraining(spread: Nanoseconds) -> Farewell {
        let slots = self.apps.slots
        let now = self.now
        let farewell = Farewell(slots, spread: spread, at: now) { UInt64.random(in: $0) }
        let packet = PreparedPacket(event: farewell.announcement(at: now))
        for slot in slots { self.apps[slot]?.send(packet, step: nil) }
        self.flushes.flush()
        return farewell
    }

    /// Goes one step on in a farewell.
    func proceed(_ farewell: inout Farewell) {
        let step = farewell.timeReached(self.now) { self.stage.core.owesResults(to: $0) }
        for slot in step.leaving { self.stage.core.startLeaving(slot, into: &self.stage.actions.pending) }
        self.perform()
        for slot in step.closing { self.apps[slot]?.goAway() }
        self.flushes.flush()
    }
}
