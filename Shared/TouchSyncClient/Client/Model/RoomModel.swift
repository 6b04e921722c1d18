#if canImport(Observation)
    public import Canvas
    public import Observation
    public import TouchSyncClientCore

    /// A room for views: what they show, renewed as it changes.
    ///
    /// No value is older than the one before. What a frame reads depends on what changes and moves, not on the room's size.
    /// When the room is left, the model stays as it was.
    @MainActor @Observable public final class RoomModel {
        /// Elements where they are to be drawn, the lowest first; while others move some, renewed for each frame.
        public var elements: [Element] { self.stack.elements }
        /// Who is here, with cursors and selections.
        public private(set) var members: [RoomMember] = []
        /// Who this user is here, and what it may do; nil before the first join.
        public private(set) var me: OwnMembership?
        /// Whether there is something to undo, as far as it is known.
        public private(set) var canUndo = true
        /// Whether there is something to redo, as far as it is known.
        public private(set) var canRedo = false
        /// How far the client is.
        public private(set) var state = ClientState.offline
        /// Why the last attempt to connect failed; nil once there is a connection.
        public private(set) var failure: ConnectionFailure?
        /// Why this user may not join; nil if that is not so.
        public private(set) var denial: ClientError?
        /// The edit that was refused last; nil again when the app has shown it and says so.
        public var refusal: ClientError?
        /// The room, for edits and gestures.
        public nonisolated let room: SyncRoom
        private var stack = ElementStack()
        @ObservationIgnored private let tasks = TaskBag()
        /// What the next frame has to show.
        @ObservationIgnored private var frame = ModelFrame()
        @ObservationIgnored private var isRenewing = false

        /// The model of a room.
        public init(_ room: SyncRoom) {
            self.room = room
            let (changes, states) = (room.changes, room.client.states)
            // It may have been denied before anybody made a model of it.
            self.denial = room.hub.denial
            self.frame = ModelFrame(isWhole: true, hasEdits: true, hasMembers: true)
            self.tasks.start { [weak self] in
                await self?.renew()
                for await change in changes { await self?.follow(change) }
            }
            self.tasks.start { [weak self] in
                await self?.readState()
                for await _ in states { await self?.readState() }
            }
        }

        private func readState() async {
            let (state, failure) = await self.room.client.connection
            self.state = state
            if self.failure != failure { self.failure = failure }
        }

        private func follow(_ change: RoomChange) {
            switch change {
            case .elements(let ids):
                self.frame.ids.formUnion(ids.map(TextKey.init))
                self.frame.hasEdits = true
            case .moving(let ids), .still(let ids): self.frame.ids.formUnion(ids.map(TextKey.init))
            case .allElements: (self.frame.isWhole, self.frame.hasEdits) = (true, true)
            case .members, .awareness: self.frame.hasMembers = true
            case .joined(let recovered):
                self.denial = nil
                // A room that was left and entered again does not say what was deleted meanwhile.
                if !recovered { self.frame.isWhole = true }
            case .denied(let error): self.denial = error
            case .refusal(let error): self.refusal = error
            case .signal: break
            case .left: self.frame = ModelFrame()
            }
            self.renew()
        }

        /// Reads what changed or moves, frame by frame until nothing does; one reading at a time.
        private func renew() {
            if self.isRenewing || self.frame.isEmpty { return }
            self.isRenewing = true
            let room = self.room
            self.tasks.start { [weak self] in
                while let frame = await self?.nextFrame() {
                    if let view = await frame.view(of: room) { await self?.show(view, of: frame) }
                    // About a frame: nobody sees more.
                    try? await Task.sleep(for: .milliseconds(16))
                    if Task.isCancelled { return }
                }
            }
        }

        private func nextFrame() -> ModelFrame? {
            defer { self.frame = ModelFrame() }
            self.isRenewing = !self.frame.isEmpty
            return self.isRenewing ? self.frame : nil
        }

        /// Who observes a value hears of it only if it differs.
        private func show(_ view: FrameView, of frame: ModelFrame) {
            if let drawing = view.drawing { self.show(drawing, of: frame) }
            if let (canUndo, canRedo) = view.reach {
                if self.canUndo != canUndo { self.canUndo = canUndo }
                if self.canRedo != canRedo { self.canRedo = canRedo }
            }
            if let (members, me) = view.people {
                if self.members != members { self.members = members }
                if self.me != me { self.me = me }
            }
        }

        private func show(_ drawing: RoomDrawing, of frame: ModelFrame) {
            self.frame.ids.formUnion(drawing.moving.map(TextKey.init))
            if frame.isWhole {
                if self.elements != drawing.elements { self.stack = ElementStack(drawing.elements) }
            } else {
                let changes = self.stack.changes(of: frame.ids, to: drawing.elements)
                if !changes.isEmpty { self.stack.apply(changes) }
            }
        }
    }

    /// What a frame has to show: all elements, or those that changed or move; and what can be undone, and the members, if
    /// something about them changed.
    private struct ModelFrame: Sendable {
        var isWhole = false
        var ids: Set<TextKey> = []
        var hasEdits = false
        var hasMembers = false

        var hasElements: Bool { self.isWhole || !self.ids.isEmpty }
        var isEmpty: Bool { !self.hasElements && !self.hasEdits && !self.hasMembers }

        /// What it shows, as the client has it at one moment; nil when the room was left.
        func view(of room: SyncRoom) async -> FrameView? {
            await room.client.read { [room = room.id, clock = room.client.clock] core in
                guard core.isIn(room) else { return nil }
                var view = FrameView()
                if self.hasElements {
                    let ids = self.isWhole ? nil : self.ids.map(\.text)
                    view.drawing = core.drawing(of: ids, in: room, at: clock.milliseconds(at: nil))
                }
                if self.hasEdits { view.reach = (core.canUndo(in: room), core.canRedo(in: room)) }
                if self.hasMembers { view.people = (core.members(in: room), core.ownMembership(in: room)) }
                return view
            }
        }
    }

    /// What a frame shows; nil what it leaves as it is.
    private struct FrameView: Sendable {
        var drawing: RoomDrawing?
        var reach: (canUndo: Bool, canRedo: Bool)?
        var people: (members: [RoomMember], me: OwnMembership?)?
    }
#endif
