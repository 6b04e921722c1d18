import GatewayCore
import SocketIOServer
import Wire

/// The apps' connections by slot, which is all that the core knows of them, and what goes to many of them at once.
struct AppLines {
    private var lines: [(any AppLine)?] = []
    /// Bytes that may wait for an app before it gets no more updates and must join again.
    let behindBytes: Int
    /// The slots of apps that did not read when they were looked at last.
    private var stuck: Set<Slot> = []

    init(behindBytes: Int) { self.behindBytes = behindBytes }

    var slots: [Slot] { self.lines.indices.filter { self.lines[$0] != nil } }

    subscript(slot: Slot) -> (any AppLine)? { self.lines.indices.contains(slot) ? self.lines[slot] : nil }

    mutating func add(_ line: any AppLine, at slot: Slot) {
        if slot == self.lines.count {
            self.lines.append(line)
        } else {
            self.lines[slot] = line
        }
    }

    mutating func remove(_ slot: Slot) {
        if self.lines.indices.contains(slot) { self.lines[slot] = nil }
    }

    /// Looks for apps that do not read; called once a second.
    /// - Returns: how many have not accepted more now and a second ago.
    mutating func countSlowApps() -> Int {
        let stuck = Set(self.lines.indices.filter { self.lines[$0]?.isStuck == true })
        defer { self.stuck = stuck }
        return stuck.intersection(self.stuck).count
    }

    /// Sends an event to many apps.
    /// - Returns: those that get it no more, as too much waits for them.
    func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) -> [Slot] {
        let packet = PreparedPacket(event: json)
        var behind: [Slot] = []
        for slot in slots {
            guard let app = self.lines[slot] else { continue }
            if step?.seq != nil, app.isBehind(self.behindBytes) {
                behind.append(slot)
            } else {
                app.send(packet, step: step)
            }
        }
        return behind
    }

    /// Sends an event to those apps that can take it now.
    /// - Returns: to how many it was not sent, as too much waits for them.
    func offer(_ json: [UInt8], to slots: [Slot]) -> Int {
        let packet = PreparedPacket(event: json)
        return slots.count { self.lines[$0].map { !$0.offer(packet) } ?? false }
    }

    /// Sends each member the previews of all others in one write. Members that move nothing themselves share one buffer.
    func deliver(_ previews: [PreviewText], to slots: [Slot]) {
        var packets = PreviewPackets(previews)
        // Few of them: looking through is cheaper than hashing.
        let publishers = previews.compactMap(\.sender)
        for slot in slots {
            guard let app = self.lines[slot] else { continue }
            if !publishers.contains(slot) {
                app.send(previews, butOf: nil, packet: packets.all(inBatches: app.takesBatches))
                continue
            }
            let others = previews.indices.filter { previews[$0].sender != slot }
            guard !others.isEmpty else { continue }
            app.send(previews, butOf: slot, packet: packets.some(others, inBatches: app.takesBatches))
        }
    }

    /// Sends members those previews that they see, to each in one write. Those that see the same share one buffer.
    func deliver(_ previews: [PreviewText], to sightings: [Sighting]) {
        var packets = PreviewPackets(previews)
        for sighting in sightings {
            guard let app = self.lines[sighting.slot] else { continue }
            app.send(
                sighting.indices.map { previews[$0] }, butOf: nil,
                packet: packets.shared(sighting.indices, inBatches: app.takesBatches))
        }
    }
}
