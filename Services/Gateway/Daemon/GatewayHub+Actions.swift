import GatewayCore
import JSONBytes
import SocketIO
import SocketIOServer
import Stages
import Wire

/// Doing what the core decided.
extension GatewayHub {
    func perform(_ action: GatewayAction) {
        switch action {
        case .acknowledge(let slot, let id, let json): self.apps[slot]?.acknowledge(id, json)
        case .emit(let slot, let json): self.apps[slot]?.emit(json)
        case .broadcast(let slots, let json, let step): self.broadcast(json, to: slots, step: step)
        case .previews(let slots, let previews): self.deliver(previews, to: slots)
        case .disconnect(let slot): self.apps[slot]?.disconnect()
        case .preview(let shard, let preview):
            if let coalescer = self.topology.coalescer(of: shard) { self.senders.preview(preview, to: coalescer) }
        case .commit(let shard, let path, let commit): self.send(commit, shard: shard, path: path)
        case .fanout(let shard, let record):
            if let fanout = self.topology.fanout(of: shard) { self.senders.record(record, to: fanout) }
        case .formerFanout(let shard, let record):
            if let fanout = self.topology.formerFanout(of: shard) { self.senders.record(record, to: fanout) }
        case .http(let request, let status, let json):
            self.responders.removeValue(forKey: request)?(HTTPAnswer(status: status, json: json))
        }
    }

    private func send(_ commit: Commit, shard: Int, path: CommitPath) {
        guard let target = self.topology.target(of: shard, path) else { return }
        if !self.senders.commit(commit, to: target) { self.core.commitNotSent(commit) }
    }

    /// Sends commits that wait for credit as far as there is some, one of each shard by turns.
    func releaseHeld(at now: UInt64) {
        var isGoingOn = true
        while isGoingOn {
            isGoingOn = false
            for shard in self.core.heldShards {
                guard let path = self.core.nextHeldPath(in: shard) else { continue }
                if let target = self.topology.target(of: shard, path), !self.senders.isOpen(target) { continue }
                self.core.releaseHeld(in: shard, at: now)
                self.perform()
                isGoingOn = true
            }
        }
    }

    private func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) {
        let packet = PreparedPacket(event: json)
        var behind: [Slot] = []
        for slot in slots {
            guard let app = self.apps[slot] else { continue }
            if step?.seq != nil, app.isBehind(self.behindBytes) {
                behind.append(slot)
            } else {
                app.send(packet, json: json, step: step)
            }
        }
        if let step, let seq = step.seq, !behind.isEmpty { self.core.fellBehind(behind, in: step.room, at: seq) }
    }

    /// Gives each member the previews of all others in one write. Members that move nothing themselves share one buffer.
    private func deliver(_ previews: [PreviewText], to slots: [Slot]) {
        let packets = previews.map { PreparedPacket(event: $0.json) }
        // Few of them: looking through is cheaper than hashing.
        let movers = previews.compactMap(\.sender)
        let all = packets.count == 1 ? packets[0] : PreparedPacket.concatenating(packets)
        for slot in slots {
            guard let app = self.apps[slot] else { continue }
            if !movers.contains(slot) {
                app.send(previews, butOf: nil, packet: all)
                continue
            }
            let others = previews.indices.filter { previews[$0].sender != slot }
            guard let first = others.first else { continue }
            let packet =
                others.count == 1 ? packets[first] : PreparedPacket.concatenating(others.map { packets[$0] })
            app.send(previews, butOf: slot, packet: packet)
        }
    }
}
