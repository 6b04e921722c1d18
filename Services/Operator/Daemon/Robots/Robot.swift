internal import Canvas
internal import TouchSyncClient
internal import TouchSyncClientCore

/// Somebody who works in a room without rest: a client of its own, a mind and a hand.
struct Robot: Sendable {
    private let client: SyncClient
    private let room: SyncRoom
    private let tally: RobotTally
    private var mind: RobotMind<SeededNumbers>

    init(_ number: Int, _ options: RobotOptions, tally: RobotTally) throws(ClientSetupError) {
        let name = "robot-\(number)"
        self.client = try SyncClient(
            url: options.url, user: ClientUser(id: name, name: name, color: Self.color(number)),
            token: options.token.map { token in { @Sendable _ in token } })
        self.room = self.client.room(options.room)
        self.tally = tally
        self.mind = RobotMind(
            area: Rect(x: 60, y: 60, width: 1080, height: 680), notes: options.notes,
            random: SeededNumbers(seed: options.seed &+ UInt64(number)))
    }

    /// Neighbours in the circle of colours are far apart: each is a golden section further.
    private static func color(_ number: Int) -> String {
        let hue = (Double(number) * 0.618034).truncatingRemainder(dividingBy: 1) * 6
        let channels = [5.0, 3, 1].map { shift in
            let place = (shift + hue).truncatingRemainder(dividingBy: 6)
            return UInt8(210 - 150 * min(max(min(place, 4 - place), 0), 1))
        }
        return "#" + channels.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Works until the task is cancelled.
    /// - Throws: why the room may not be joined.
    mutating func work() async throws {
        self.client.connect()
        defer { self.room.point(nil) }
        try await self.room.joined()
        self.tally.robotJoined()
        while !Task.isCancelled {
            let deed = self.mind.next(seeing: await self.room.elements)
            await self.perform(deed)
        }
        await self.tally.allSettled(within: Self.patience)
        await self.client.close()
    }

    /// How long the results of the last edits are waited for.
    private static let patience = Duration.seconds(3)

    private mutating func perform(_ deed: RobotDeed) async {
        switch deed {
        case .rest(let seconds): try? await Task.sleep(for: .seconds(seconds))
        case .point(let stroke): await self.point(stroke)
        case .create(let point): self.tally.follow(self.room.create(Self.note(at: point)))
        case .move(let ids, let stroke): await self.move(ids, stroke)
        case .select(let ids): self.room.select(ids)
        case .undo: self.tally.follow(self.room.undo())
        }
    }

    private static func note(at point: Point) -> NewElement {
        var note = NewElement(type: "note")
        (note.transform.positionX, note.transform.positionY) = (point.x, point.y)
        (note.originalWidth, note.originalHeight) = (120, 120)
        return note
    }

    private mutating func point(_ stroke: Stroke) async {
        let start = self.mind.hand
        let room = self.room
        await Self.frames(of: stroke) { fields in room.point(start + (fields.translation ?? .zero)) }
        self.mind.moved(by: stroke)
    }

    private mutating func move(_ ids: [String], _ stroke: Stroke) async {
        guard let first = ids.first, let element = await self.room.element(first) else { return }
        await self.point(self.mind.reach(for: element))
        let start = self.mind.hand
        let room = self.room
        let gesture = room.begin(ids)
        await Self.frames(of: stroke) { fields in
            gesture.update(fields)
            room.point(start + (fields.translation ?? .zero))
        }
        self.mind.moved(by: stroke)
        self.tally.follow(gesture.end())
    }

    /// Shows a stroke as a screen would see it, 60 times a second.
    private static func frames(of stroke: Stroke, _ show: (GestureFields) -> Void) async {
        let clock = ContinuousClock()
        let start = clock.now
        var elapsed = 0.0
        while elapsed < stroke.duration, !Task.isCancelled {
            try? await clock.sleep(for: .milliseconds(16))
            elapsed = (clock.now - start) / .seconds(1)
            show(stroke.fields(after: elapsed))
        }
    }
}

/// Random numbers that their seed determines (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
