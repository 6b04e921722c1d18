import GatewayCore
import JSONBytes
import SocketIO
import SocketIOServer

extension GatewayHub {
    /// Tells all apps that this gateway is about to stop, and draws when each is closed.
    /// - Parameter spread: over how long they are closed, ms.
    func announceDraining(spread: UInt64) -> Farewell {
        let slots = self.apps.indices.filter { self.apps[$0] != nil }
        let farewell = Farewell(slots, spread: spread, at: self.now) { UInt64.random(in: $0) }
        var writer = JSONWriter(reserving: 64)
        writer.beginArray()
        writer.value("server:draining")
        writer.beginObject()
        writer.key("closesInMs")
        writer.value(farewell.end - min(farewell.end, self.now))
        writer.endObject()
        writer.endArray()
        let packet = PreparedPacket(event: writer.bytes)
        for slot in slots { self.apps[slot]?.send(packet, json: writer.bytes, step: nil) }
        self.flushes.flush()
        return farewell
    }

    /// Takes the next step of a farewell.
    func take(_ farewell: inout Farewell) {
        let step = farewell.step(at: self.now) { self.core.owesResults(to: $0) }
        for slot in step.leaving { self.core.startLeaving(slot) }
        for slot in step.closing where self.apps.indices.contains(slot) { self.apps[slot]?.goAway() }
        self.flushes.flush()
    }
}
