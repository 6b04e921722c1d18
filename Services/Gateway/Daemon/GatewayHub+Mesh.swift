import Boot
import GatewayCore
import Logging
import Mesh
import NIOCore
import Wire

/// What comes over the mesh: links, envelopes, and the previews in them.
extension GatewayHub {
    /// Takes over what the mesh's thread has laid down.
    /// - Parameter arrival: when it laid down the first of it.
    func drainNews(since arrival: NIODeadline) {
        self.news.drain(into: &self.fresh)
        let start = NIODeadline.now()
        self.lateness = UInt64(max(0, (start - arrival).nanoseconds) / 1000)
        self.core.turnBegan()
        let now = start.uptimeNanoseconds / 1_000_000
        for item in self.fresh {
            switch item {
            case .up(let stage, let peer, let greeting, let isResting):
                self.senders.up(stage, peer, greeting: greeting)
                self.linkChanged(stage, peer, isResting ? .rests : .serves, at: now)
            case .resting(let stage, let peer, let isResting):
                self.linkChanged(stage, peer, isResting ? .rests : .serves, at: now)
            case .down(let stage, let peer):
                self.senders.down(stage, peer)
                self.linkChanged(stage, peer, .isGone, at: now)
            case .previewLane(let peer, let isOpen): self.senders.setOpen(isOpen, peer: peer)
            case .envelope(let stage, let peer, let bytes):
                self.envelopeReceived(bytes, from: stage, peer, at: now)
            case .face(let peer, let text): self.face.received(text, from: peer, self)
            case .faceGone(let peer): self.face.gone(peer, from: self)
            }
        }
        self.fresh.removeAll(keepingCapacity: true)
        self.takePreviews(at: now)
        self.batched {
            self.perform()
            self.releaseHeld(at: now)
        }
        self.settle()
    }

    private func linkChanged(_ stage: Stage, _ peer: String, _ state: ShardOwners.PeerState, at now: UInt64) {
        let change = self.topology.changed(stage, peer, state)
        switch stage {
        case .fanout:
            let moves = [(true, change.handedOver.union(change.relieved)), (false, change.orphaned)]
            for (hadOwner, shards) in moves where !shards.isEmpty {
                self.core.fanoutMoved(shards: shards, hadOwner: hadOwner, at: now)
                self.perform()
            }
        case .coalescer, .committer:
            // One that rests may sit on what it was sent.
            let shards = change.orphaned.union(change.relieved)
            if !shards.isEmpty { self.core.commitPathChanged(shards: shards, at: now) }
        }
        self.reviewReadiness()
    }

    /// Ready when every stage answers. At the start all of its peers are waited for, for a moment: gateways that see
    /// different peers would turn to different fan-outs for the same room.
    func reviewReadiness() {
        if let missing = Stage.allCases.first(where: { !self.topology.isServed($0) }) {
            self.mesh.notReady("no \(missing) answers")
        } else if self.topology.liveCount == self.peerCount || self.now >= self.waitsForPeersUntil {
            self.mesh.ready()
        } else {
            self.mesh.notReady("some peers do not answer yet")
        }
    }

    private func envelopeReceived(_ bytes: [UInt8], from stage: Stage, _ peer: String, at now: UInt64) {
        do {
            try bytes.withUnsafeBytes { bytes in try self.decode(bytes, from: stage, peer, at: now) }
        } catch {
            self.logger.warning("envelope refused", metadata: ["wire.error": "\(error)"])
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, from stage: Stage, _ peer: String, at now: UInt64
    ) throws(EnvelopeError) {
        var envelope = try EnvelopeReader(bytes)
        let before = self.previews.count
        defer { if self.previews.count > before { self.previewEnvelopes += 1 } }
        while let (kind, fields) = try envelope.next() {
            switch kind {
            case .preview: self.take(try EnvelopeReader.decode(Preview.self, fields), from: peer)
            case .update:
                let update = try EnvelopeReader.decode(Update.self, fields)
                self.takePreviews(of: update.room, at: now)
                self.core.updated(update)
            case .commitResult: self.core.resulted(try EnvelopeReader.decode(CommitResult.self, fields), at: now)
            case .joinReply:
                let reply = try EnvelopeReader.decode(JoinReply.self, fields)
                self.takePreviews(of: reply.room, at: now)
                self.core.joinReplied(reply, at: now, seconds: self.seconds)
            case .roomPosition:
                let position = try EnvelopeReader.decode(RoomPosition.self, fields)
                self.takePreviews(of: position.room, at: now)
                self.core.positioned(position)
            case .presence: self.core.presenceChanged(try EnvelopeReader.decode(Presence.self, fields))
            case .gestureEnded:
                let ended = try EnvelopeReader.decode(GestureEnded.self, fields)
                self.takePreviews(of: ended.gesture.room, at: now)
                self.core.gestureEnded(ended)
            case .sessionClaimed: self.core.sessionClaimed(try EnvelopeReader.decode(SessionClaimed.self, fields))
            case .roomState: self.core.readAnswered(try EnvelopeReader.decode(RoomState.self, fields))
            case .commitCredit:
                self.senders.allow(try EnvelopeReader.decode(CommitCredit.self, fields), stage, peer)
            case .commit, .join, .leave, .roomInterest, .gestureEnd, .roomRead: break
            }
        }
    }

    /// A fan-out that does not own the room any more cannot know which updates its previews must not follow: the owner
    /// may have sent them already.
    private func take(_ preview: Preview, from peer: String) {
        guard self.topology.owner(.fanout, Shard.of(room: preview.room)) == peer else { return }
        if self.previews.last?.room != preview.room { self.previewRooms.insert(preview.room) }
        self.previews.append(preview)
    }

    /// Delivers what came of a room's previews before something else of the room is told.
    private func takePreviews(of room: Identifier, at now: UInt64) {
        if self.previewRooms.contains(room) { self.takePreviews(at: now) }
    }

    /// Delivers this turn's previews. Several envelopes of them in one turn mean that this loop is behind: then only the
    /// latest count, so that it delivers less the later it is.
    private func takePreviews(at now: UInt64) {
        guard !self.previews.isEmpty else { return }
        self.core.previewed(
            self.previewEnvelopes > 1 ? PreviewOutbox.folded(self.previews) : self.previews, at: now,
            lateness: self.lateness)
        self.previews.removeAll(keepingCapacity: true)
        self.previewRooms.removeAll(keepingCapacity: true)
        self.previewEnvelopes = 0
    }
}
