import Timing
import Wire

/// The rooms that have members here, and the delivery of their streams.
///
///     followed ──gap, or another fan-out──► catching up ──position──► followed
///        └──another epoch, or what is missing is gone──► reset: members join again
///
/// It is no truth about the rooms. Updates are delivered by their numbers only: what is missing is asked for before
/// anything after it is delivered, and no member gets what its join's answer contains already.
package struct RoomStreams {
    private var rooms: [Identifier: RoomView] = [:]
    /// Updates delivered, gaps found, rooms reset, and members that had to join again as they read too slowly.
    package private(set) var updatesTotal: UInt64 = 0, gapsTotal: UInt64 = 0
    package private(set) var resyncsTotal: UInt64 = 0, fallenBehindTotal: UInt64 = 0

    /// What an event did to a room's stream.
    enum Outcome {
        /// Nothing.
        case unchanged
        /// It moved on.
        case delivered
        /// Something is missing that must be asked for.
        case missing
        /// It goes on elsewhere; members join again.
        case reset
    }

    // MARK: What is known

    /// Who gets previews of a room.
    func previewMembers(of room: Identifier) -> [Slot] { self.rooms[room]?.previewMembers ?? [] }

    /// The same, apart: members of the full contract, and 1.0 apps.
    func previewMembersByContract(of room: Identifier) -> (full: [Slot], v1: [Slot]) {
        guard let view = self.rooms[room] else { return ([], []) }
        if view.v1Members.isEmpty { return (view.previewMembers, []) }
        return (
            view.previewMembers.filter { !view.v1Members.contains($0) },
            view.previewMembers.filter { view.v1Members.contains($0) }
        )
    }

    /// True for a 1.0 app.
    func isV1(_ slot: Slot, in room: Identifier) -> Bool { self.rooms[room]?.v1Members.contains(slot) ?? false }

    /// Everybody in a room.
    func members(of room: Identifier) -> [Slot] { self.rooms[room]?.all ?? [] }

    /// The members of the full contract that follow a room's stream.
    func fullMembers(of room: Identifier) -> [Slot] { self.rooms[room]?.members ?? [] }

    /// True for a member of a room.
    func contains(_ slot: Slot, in room: Identifier) -> Bool { self.rooms[room]?.contains(slot) ?? false }

    /// True for a member that still reads the parts of its snapshot.
    func isLoading(_ slot: Slot, in room: Identifier) -> Bool { self.rooms[room]?.loading[slot] != nil }

    /// Up to where a room's stream was delivered; nil when it has no members.
    func position(of room: Identifier) -> Position? { self.rooms[room]?.position }

    /// True when a room's stream has gone beyond a position of the same epoch.
    func isAhead(of position: Position, in room: Identifier) -> Bool {
        guard let stream = self.position(of: room) else { return false }
        return stream.epoch == position.epoch && stream.seq > position.seq
    }

    /// The rooms of these shards.
    func rooms(in shards: Set<Int>) -> [Identifier] { self.rooms.keys.filter { shards.contains(Shard.of(room: $0)) } }

    // MARK: Members

    /// A member comes in whose join was answered as of `position`.
    /// - Parameter isLoading: it is sent its snapshot in parts, and follows the stream when it has read them.
    mutating func enter(
        _ slot: Slot, _ room: Identifier, at position: Position, as kind: ReaderKind, options: StreamOptions,
        isLoading: Bool,
        into actions: inout [GatewayAction]
    ) -> Outcome {
        if isLoading {
            self.rooms[room, default: RoomView(position: position)]
                .load(slot, at: position, options: options)
        } else {
            self.rooms[room, default: RoomView(position: position)]
                .add(slot, as: kind, options: options)
        }
        // What is missing was asked for before the newcomer was known, so the fan-out believes that it is not here.
        let mustBeNamed = self.isCatchingUp(room)
        guard let stream = self.position(of: room), stream != position else {
            return mustBeNamed ? .missing : .unchanged
        }
        guard stream.epoch == position.epoch else {
            self.reset(room, to: position, except: slot, into: &actions)
            return .reset
        }
        // The newcomer is ahead of the stream: the others' gap is filled, and the newcomer skips what it has.
        if !isLoading { self.rooms[room]?.raiseFloor(of: slot, to: position.seq) }
        let outcome = self.startCatchingUp(room)
        return mustBeNamed ? .missing : outcome
    }

    /// Members of a room are sent awareness that does not come again.
    mutating func awarenessShifted(in room: Identifier) { self.rooms[room]?.awarenessShifted() }

    /// A member has read its snapshot. If it has missed something meanwhile, it joins again, from there.
    mutating func snapshotRead(of room: Identifier, by slot: Slot, into actions: inout [GatewayAction]) {
        guard let from = self.rooms[room]?.loaded(slot), let view = self.rooms[room] else { return }
        self.fallenBehindTotal += 1
        actions.append(.emit(slot, json: EventText.resync(room: room, from: from, to: view.position.seq)))
    }

    /// A member speaks the full contract from now on.
    mutating func becomeModern(_ slot: Slot, in room: Identifier, options: StreamOptions) {
        self.rooms[room]?.add(slot, as: .app, options: options)
    }

    /// A member goes.
    mutating func leave(_ slot: Slot, _ room: Identifier) { self.rooms[room]?.remove(slot) }

    /// Forgets a room without members; false when it has some.
    mutating func forgetIfEmpty(_ room: Identifier) -> Bool {
        guard self.rooms[room]?.isEmpty == true else { return false }
        self.rooms[room] = nil
        return true
    }

    // MARK: From the fan-out

    /// The next update of a room's stream came.
    mutating func updateReceived(_ update: Update, into actions: inout [GatewayAction]) -> Outcome {
        switch self.rooms[update.room]?.deliver(update, into: &actions) {
        case nil, .old: return .unchanged
        case .ahead: return self.startCatchingUp(update.room)
        case .next:
            self.updatesTotal += 1
            return .delivered
        }
    }

    /// The fan-out says where a room's stream stands, after it sent what this gateway missed.
    mutating func positionReceived(_ answer: RoomPosition, into actions: inout [GatewayAction]) -> Outcome {
        guard let position = self.position(of: answer.room) else { return .unchanged }
        self.rooms[answer.room]?.isCatchingUp = false
        self.rooms[answer.room]?.awaitsFanout = false
        if answer.isReset || answer.position.epoch != position.epoch {
            self.reset(answer.room, to: answer.position, except: nil, into: &actions)
            return .reset
        }
        return answer.position.seq > position.seq ? self.startCatchingUp(answer.room) : .unchanged
    }

    /// A gesture ended without a commit.
    mutating func gestureEnded(_ ended: GestureEnded, into actions: inout [GatewayAction]) {
        self.rooms[ended.gesture.room]?.deliver(ended, into: &actions)
    }

    /// A user came into a room, is shown otherwise there or left it.
    /// - Parameter joiner: the connection that knows it from its join's answer.
    func membersChanged(_ news: MemberNews, except joiner: Slot?, into actions: inout [GatewayAction]) {
        guard let view = self.rooms[news.room] else { return }
        let members = (view.members + view.loading.keys).filter { $0 != joiner }
        guard !members.isEmpty else { return }
        actions.append(.broadcast(members, json: EventText.member(news), step: nil))
    }

    /// A room's flush interval has changed.
    func intervalChanged(of room: Identifier, to interval: Nanoseconds, into actions: inout [GatewayAction]) {
        guard let members = self.rooms[room]?.members, !members.isEmpty else { return }
        actions.append(.broadcast(members, json: EventText.throttle(interval, room: room), step: nil))
    }

    // MARK: Gaps

    /// What a room's stream has missed must be asked for, unless it was.
    mutating func startCatchingUp(_ room: Identifier) -> Outcome {
        guard let view = self.rooms[room], !view.isCatchingUp else { return .unchanged }
        self.gapsTotal += 1
        self.rooms[room]?.isCatchingUp = true
        return .missing
    }

    /// True from the question for what a room's stream has missed until its answer.
    func isCatchingUp(_ room: Identifier) -> Bool { self.rooms[room]?.isCatchingUp == true }

    /// Another fan-out serves the room, and will be asked for what is missing.
    mutating func fanoutMoved(_ room: Identifier) {
        self.rooms[room]?.isCatchingUp = true
        self.rooms[room]?.awaitsFanout = true
    }

    /// True while the fan-out that serves the room by now has not said where the stream stands. What it sends until then is
    /// from before, when it served the room as well: updates are old by their numbers, previews may be of gestures that
    /// have ended since.
    func awaitsFanout(_ room: Identifier) -> Bool { self.rooms[room]?.awaitsFanout == true }

    /// These members have not read enough of their output to get further updates: they lose their place in the room, from
    /// the update `seq` on, and join again when they have read what waits.
    mutating func fellBehind(_ slots: [Slot], in room: Identifier, at seq: UInt64, into actions: inout [GatewayAction])
    {
        guard let view = self.rooms[room] else { return }
        for slot in slots where view.members.contains(slot) {
            self.fallenBehindTotal += 1
            self.rooms[room]?.remove(slot)
            // Its own join may have been answered from ahead of the stream.
            let from = max(seq, view.floor(of: slot) + 1)
            let to = max(view.position.seq, from - 1)
            actions.append(.dropPreviews([slot], room: room))
            actions.append(.emit(slot, json: EventText.resync(room: room, from: from, to: to)))
        }
    }

    /// Members lose their place in a room and join again. Nothing numbered goes to them until then. An app that knows the
    /// 1.0 contract only does not know how, nor does a subscriber: it is disconnected, and joined when it connects again.
    private mutating func reset(
        _ room: Identifier, to position: Position, except: Slot?, into actions: inout [GatewayAction]
    ) {
        guard let view = self.rooms[room] else { return }
        self.resyncsTotal += 1
        let json = EventText.resync(room: room, from: view.position.seq + 1, to: position.seq)
        guard let lost = self.rooms[room]?.reset(to: position, except: except) else { return }
        if !lost.rejoining.isEmpty { actions.append(.dropPreviews(lost.rejoining, room: room)) }
        for slot in lost.rejoining { actions.append(.emit(slot, json: json)) }
        for slot in lost.reconnecting { actions.append(.close(slot)) }
    }
}
