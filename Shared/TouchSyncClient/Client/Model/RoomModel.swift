#if canImport(Observation)
    public import Canvas
    public import Observation
    public import TouchSyncClientCore

    /// A room for views: what they show, renewed as it changes.
    ///
    /// Each value is the room's at one moment, and never older than the one before.
    @MainActor @Observable public final class RoomModel {
        /// Elements where they are to be drawn, the lowest first; while others move some, renewed for each frame.
        public private(set) var elements: [Element] = []
        /// Who is here, with cursors and selections.
        public private(set) var members: [RoomMember] = []
        /// How far the client is.
        public private(set) var state = ClientState.offline
        /// Why this user may not join; nil if that is not so.
        public private(set) var denial: ClientError?
        /// The edit that was refused last.
        public private(set) var refusal: ClientError?
        /// The room, for edits and gestures.
        public nonisolated let room: SyncRoom
        @ObservationIgnored private let tasks = TaskBag()
        @ObservationIgnored private var isRenewing = false
        @ObservationIgnored private var isOutdated = false

        /// The model of a room.
        public init(_ room: SyncRoom) {
            self.room = room
            let (changes, states) = (room.changes, room.client.states)
            self.tasks.start { [weak self] in
                await self?.readMembers()
                await self?.renew()
                for await change in changes { await self?.follow(change) }
            }
            self.tasks.start { [weak self] in
                await self?.readState()
                for await _ in states { await self?.readState() }
            }
        }

        private func readState() async { self.state = await self.room.client.state }

        private func readMembers() async { self.members = await self.room.members }

        private func follow(_ change: RoomChange) async {
            switch change {
            case .elements, .allElements, .moving: self.renew()
            case .members, .attention: await self.readMembers()
            case .joined: self.denial = nil
            case .denied(let error): self.denial = error
            case .refusal(let error): self.refusal = error
            case .left: break
            }
        }

        /// Reads the elements, and again as long as something changes or moves; one reading at a time.
        private func renew() {
            self.isOutdated = true
            if self.isRenewing { return }
            self.isRenewing = true
            let room = self.room
            self.tasks.start { [weak self] in
                while await self?.wantsDrawing() ?? false {
                    let drawing = await room.drawing()
                    await self?.show(drawing)
                    // About a frame: nobody sees more.
                    if drawing.isMoving { try? await Task.sleep(for: .milliseconds(16)) }
                    if Task.isCancelled { return }
                }
            }
        }

        private func wantsDrawing() -> Bool {
            defer { self.isOutdated = false }
            self.isRenewing = self.isOutdated
            return self.isOutdated
        }

        private func show(_ drawing: RoomDrawing) {
            if self.elements != drawing.elements { self.elements = drawing.elements }
            self.isOutdated = self.isOutdated || drawing.isMoving
        }
    }
#endif
