import Auth
import Canvas
import JSONBytes
import Wire

extension Gateway {
    /// An app shows what it moves.
    mutating func preview(_ incoming: Incoming, room: Identifier) throws(Refusal) {
        self.tally.previewsIn += 1
        let slot = incoming.slot
        try self.connections[slot]?.checkPreview(in: room)
        let element = try PayloadField.elementID(incoming.payload)
        let gesture = try Self.gesture(incoming.payload["gesture"])
        let fields = try PayloadField.transform(incoming.payload, isPreview: true)
        let move = Move(element: element, gesture: gesture, fields: fields)
        switch self.connections[slot]?.take(move, in: room, at: incoming.now) {
        case .goes(let preview): self.send(preview, at: incoming.now)
        case .waits:
            self.tally.previewsHeld += 1
            self.restless.insert(slot)
        case .dropped: self.tally.previewsDropped += 1
        case .ignored, nil: break
        }
    }

    private mutating func takePreviewToken(_ slot: Slot, at now: UInt64) -> Bool {
        self.connections[slot]?.previewBucket.take(at: now) ?? false
    }

    mutating func send(_ preview: Preview, at now: UInt64) {
        if !self.paces.isIdle || !self.unsent.isEmpty, self.waits(preview, at: now) { return }
        self.forward(preview)
    }

    mutating func forward(_ preview: Preview) {
        self.tally.previewsSent += 1
        self.actions.append(.preview(shard: Shard.of(room: preview.room), preview))
    }

    /// Sends the previews of a connection that were held back, as far as they may go by now.
    mutating func releasePreviews(of slot: Slot, at now: UInt64) -> Bool {
        guard let memberships = self.connections[slot]?.memberships else { return false }
        var isStillHolding = false
        for (room, membership) in memberships {
            for (element, track) in membership.elements {
                guard let held = track.held, track.pendingCommits == 0 else { continue }
                guard self.takePreviewToken(slot, at: now) else {
                    isStillHolding = true
                    continue
                }
                var preview = held
                preview.after = max(preview.after, track.lastSeq)
                self.connections[slot]?.memberships[room]?.elements[element]?.held = nil
                self.send(preview, at: now)
            }
        }
        return isStillHolding
    }

    /// Tells a refused preview, at most once a second for each code.
    mutating func refusePreview(_ refusal: Refusal, incoming: Incoming) {
        let slot = incoming.slot
        if let ackID = incoming.ackID {
            self.refuse(refusal, slot: slot, ackID: ackID, event: incoming.event.name)
            return
        }
        guard refusal.code == .invalid || refusal.code == .forbidden else { return }
        if let told = self.connections[slot]?.toldAt[refusal.code], incoming.now < told + 1000 { return }
        self.connections[slot]?.toldAt[refusal.code] = incoming.now
        self.refuse(
            refusal, slot: slot, ackID: nil, event: incoming.event.name,
            room: incoming.payload["roomId"]?.string.map { Identifier($0) },
            element: incoming.payload["elementId"]?.string.map { Identifier($0) })
    }

    mutating func endGesture(_ end: GestureEnd) {
        self.actions.append(.fanout(shard: Shard.of(room: end.room), .gestureEnd(end)))
    }

    /// Reads `gesture`: a whole number ≥ 1, or absent.
    static func gesture(_ value: JSONValue?) throws(Refusal) -> UInt64? {
        guard let value else { return nil }
        guard let number = value.integer, number >= 1, number <= Self.maxNumber else {
            throw Refusal(.invalid, "A gesture is a whole number from 1 on.", field: "gesture")
        }
        return UInt64(number)
    }

    /// The largest whole number that every JSON reader keeps exactly: 2^53 − 1.
    static let maxNumber: Int64 = (1 << 53) - 1
}
