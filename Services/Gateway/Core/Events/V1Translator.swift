import JSONBytes
import Wire

/// What 1.0 apps get of a room's stream and of its previews. They know one event for each element, the end of a gesture as
/// an update that shows the element as it is, and no awareness.
struct V1Translator {
    /// The maximum of held ends: a gap is filled within moments, and an end that is forgotten is made up for by the next
    /// update of its element.
    static let mostHeldEnds = 64
    /// The latest ends of gestures whose elements were changed by updates that have not come yet. Shown before these, they
    /// would be turned back for a moment.
    private var heldEnds: [GestureEnded] = []

    /// Delivers the next update of the stream, and the ends of gestures that waited for it.
    /// - Parameter update: without what moves elements.
    mutating func deliver(_ update: Update, to members: [Slot], into actions: inout [GatewayAction]) {
        let ended = self.heldEnds.filter { $0.seq <= update.seq }
        if !ended.isEmpty { self.heldEnds.removeAll { $0.seq <= update.seq } }
        if members.isEmpty { return }
        let step = StreamStep(update, isNumbered: false)
        for json in Self.texts(of: update) { actions.append(.broadcast(members, json: json, step: step)) }
        for end in ended { Self.deliver(end, to: members, into: &actions) }
    }

    /// Delivers the end of a gesture, or holds it until the stream has come as far as what it shows.
    /// - Parameters:
    ///   - ended: without what moves its element.
    ///   - seq: up to where the stream was delivered.
    mutating func deliver(
        _ ended: GestureEnded, at seq: UInt64, to members: [Slot], into actions: inout [GatewayAction]
    ) {
        if members.isEmpty { return }
        if ended.seq <= seq { return Self.deliver(ended, to: members, into: &actions) }
        if self.heldEnds.count == Self.mostHeldEnds { self.heldEnds.removeFirst() }
        self.heldEnds.append(ended)
    }

    /// Forgets the held ends: the stream goes on from another place.
    mutating func reset() { self.heldEnds = [] }

    // MARK: Texts

    /// What they get of previews and awareness: those of a group one by one.
    static func previews(_ texts: [PreviewText]) -> [PreviewText] {
        texts.flatMap { text -> [PreviewText] in
            switch text.content {
            case .previews(let previews) where previews.first?.group == .alone: [text]
            case .previews(let group): group.map { PreviewText(sender: text.sender, preview: $0) }
            case .awareness: []
            }
        }
    }

    private static func deliver(_ ended: GestureEnded, to members: [Slot], into actions: inout [GatewayAction]) {
        let gesture = ended.gesture
        let update = Update(
            shard: 0, gseq: 0, room: gesture.room, seq: ended.seq, event: .transformed, user: gesture.user,
            sid: gesture.sid, number: 0, elements: [UpdatedElement(id: gesture.element, json: ended.json)])
        let step = StreamStep(gesture, before: nil)
        actions.append(.broadcast(members, json: Array(update.text), step: step))
    }

    /// The events of an update, all with its number; none for what 1.0 does not know.
    private static func texts(of update: Update) -> [[UInt8]] {
        switch update.event {
        case .transformed, .created: [Array(update.text)]
        case .createdMany: Self.texts(of: update) { _ in .created }
        case .deleted: Self.texts(of: update) { _ in .deleted }
        case .transformedMany: Self.texts(of: update) { _ in .transformed }
        case .changedMany: Self.texts(of: update) { $0.isDeleted ? .deleted : $0.isNew ? .created : .transformed }
        case .updated, .updatedMany: []
        }
    }

    private static func texts(of update: Update, as event: (Update.Entry) -> UpdateEvent) -> [[UInt8]] {
        let elements = update.elements
        return elements.indices.map { index in
            let event = event(update.entries[index])
            if event == .deleted { return Self.deletion(of: elements[index].id, by: update) }
            let text = update.rewritten(as: event, [elements[index]]).text
            guard event == .transformed else { return Array(text) }
            return text.dropLast(2) + #","part":\#(index + 1),"parts":\#(elements.count)}]"#.utf8
        }
    }

    /// 1.0 knows no list of ids.
    private static func deletion(of element: Identifier, by update: Update) -> [UInt8] {
        EventText.event(UpdateEvent.deleted.name, room: update.room) { writer in
            writer.member("elementId", element.text)
            update.writeTail(into: &writer)
        }
    }
}
