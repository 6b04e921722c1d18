public import Canvas
public import TouchSyncClientCore

/// A room. It is joined as soon as there is a connection, and again after each loss, until it is left.
///
/// What is shown is what is stored with this user's edits and gestures on top. What is called without `await` happens in
/// the order of the calls, and what is read after it contains it.
public struct SyncRoom: Sendable {
    /// Its id.
    public let id: String
    let client: SyncClient
    let hub: RoomHub

    /// Waits for the first join.
    /// - Throws: `ClientError` when this user may not join, or the room was left before; `CancellationError`.
    public func joined() async throws { try await self.hub.joined.value }

    /// What happens from now on, for one consumer.
    public var changes: RoomChanges { RoomChanges(mailbox: self.hub.listen()) }

    // MARK: What is shown

    /// Everything at one moment.
    public var shown: ShownRoom {
        get async {
            await self.client.read { [id] core in
                core.keepOrder(in: id)
                return ShownRoom(
                    state: core.state, seq: core.seq(of: id), pending: core.pendingEdits(in: id),
                    elements: core.elements(in: id), members: core.members(in: id), me: core.ownMembership(in: id),
                    canUndo: core.canUndo(in: id), canRedo: core.canRedo(in: id))
            }
        }
    }

    /// All elements as they lie on each other, the lowest first.
    public var elements: [Element] {
        get async {
            await self.client.read { [id] core in
                core.keepOrder(in: id)
                return core.elements(in: id)
            }
        }
    }

    /// An element; nil if there is none.
    public func element(_ id: String) async -> Element? {
        await self.client.read { [room = self.id] in $0.element(id, in: room) }
    }

    /// An element where it is to be drawn, with its motion and other people's movements; now, or at the time of a frame.
    public func drawn(_ id: String, at instant: ContinuousClock.Instant? = nil) async -> Element? {
        await self.drawing(of: [id], at: instant).elements.first
    }

    /// All elements where they are to be drawn, the lowest first; now, or at the time of a frame.
    public func drawing(at instant: ContinuousClock.Instant? = nil) async -> RoomDrawing {
        await self.client.read { [id, clock = self.client.clock] core in
            core.drawing(of: nil, in: id, at: clock.milliseconds(at: instant))
        }
    }

    /// Some elements where they are to be drawn, in the order of these ids; now, or at the time of a frame. For a frame
    /// these are the elements of `RoomChange.moving` and those that moved in the frame before: it costs what moves,
    /// however large the room is.
    public func drawing(of ids: [String], at instant: ContinuousClock.Instant? = nil) async -> RoomDrawing {
        await self.client.read { [id, clock = self.client.clock] core in
            core.drawing(of: ids, in: id, at: clock.milliseconds(at: instant))
        }
    }

    /// Whether an element moves by itself, or somebody else's movement of it is still under way.
    public func isMoving(_ id: String) async -> Bool {
        await self.drawing(of: [id]).isMoving
    }

    /// Where an element's motion and animation have it now, or at another time, also to come, without what others do to
    /// it; nil if there is none.
    public func pose(of id: String, at instant: ContinuousClock.Instant? = nil) async -> Pose? {
        await self.client.read { [room = self.id, clock = self.client.clock] core in
            core.pose(of: id, in: room, at: clock.milliseconds(at: instant))
        }
    }

    /// Who is here, and what is shown of them.
    public var members: [RoomMember] {
        get async { await self.client.read { [id] in $0.members(in: id) } }
    }

    /// Who this user is here, and what it may do, as of the last join; nil before the first.
    public var me: OwnMembership? {
        get async { await self.client.read { [id] in $0.ownMembership(in: id) } }
    }

    /// Whether `undo` has something to take back. True until the server has found nothing, because edits of earlier
    /// sessions count, too.
    public var canUndo: Bool {
        get async { await self.client.read { [id] in $0.canUndo(in: id) } }
    }

    /// Whether `redo` has something to do again, as far as it was undone since this client is in the room.
    public var canRedo: Bool {
        get async { await self.client.read { [id] in $0.canRedo(in: id) } }
    }

    /// The number of the last change that was applied here; 0 before the first.
    public var seq: Int64 {
        get async { await self.client.read { [id] in $0.seq(of: id) } }
    }

    /// The number of edits without a result.
    public var pending: Int {
        get async { await self.client.read { [id] in $0.pendingEdits(in: id) } }
    }

    // MARK: People

    /// This user points at a position, pixels of the canvas; nil hides the cursor.
    public func point(_ position: Point?) { self.post(.pointed(position)) }

    /// This user has selected these elements.
    public func select(_ ids: [String]) { self.post(.selected(ids)) }

    /// This user sees this part of the canvas, so that previews of others come from there only; nil for everything.
    /// - Parameter share: whether others see it, to follow.
    public func look(_ viewport: Rect?, share: Bool = false) { self.post(.looked(viewport, isShared: share)) }

    /// Follows what a user sees, if the user shares it.
    public func follow(_ userId: String) -> FollowedView {
        FollowedView(room: self, userId: userId, changes: self.changes)
    }

    /// What else others are to see of this user, as the app understands it.
    /// - Parameter state: becomes a JSON object, of at most 1 KiB; what does not is among the client's errors.
    public func show(state: some Encodable) {
        if let text = self.text(state, field: "state") { self.post(.presented(text)) }
    }

    /// Tells everyone who is in the room now something, once: nothing keeps it. Without a connection it is lost.
    /// - Parameters:
    ///   - name: what it is, 1–64 bytes.
    ///   - data: becomes JSON, of at most 4 KiB; what does not is among the client's errors.
    public func signal(_ name: String, _ data: some Encodable) {
        if let text = self.text(data, field: "data") { self.post(.signaled(name, text)) }
    }

    /// Tells everyone who is in the room now something that needs no more than its name.
    public func signal(_ name: String) { self.post(.signaled(name, "null")) }

    private func text(_ value: some Encodable, field: String) -> String? {
        if let json = ClientJSON.encode(value) { return String(decoding: json, as: UTF8.self) }
        let error = ClientError(code: .invalid, message: "This value cannot be written as JSON.", field: field)
        self.client.errorListeners.tell(error)
        return nil
    }

    /// Leaves, as soon as all edits have their results.
    public func leave() { self.post(.leave) }

    /// Who changed what: a page behind a number.
    /// - Parameter limit: the maximum number of entries, 1–200.
    /// - Throws: `ClientError`, `TransportError` or `CancellationError`.
    public func history(after seq: Int64 = 0, limit: Int = 50) async throws -> RoomHistoryPage {
        try await self.client.history(of: self.id, after: seq, limit: limit)
    }

    func post(_ input: RoomInput) { self.client.post(.room(self.id, input)) }
}

/// All that a room shows at one moment: read one after the other, its parts may be of different moments.
public struct ShownRoom: Sendable {
    /// How far the client is.
    public let state: ClientState
    /// The number of the last change that was applied here; 0 before the first.
    public let seq: Int64
    /// The number of edits without a result.
    public let pending: Int
    /// All elements as they lie on each other, the lowest first.
    public let elements: [Element]
    /// Who is here, and what is shown of them.
    public let members: [RoomMember]
    /// Who this user is here, and what it may do; nil before the first join.
    public let me: OwnMembership?
    /// Whether there is something to undo and to redo, as far as it is known.
    public let canUndo, canRedo: Bool
}
