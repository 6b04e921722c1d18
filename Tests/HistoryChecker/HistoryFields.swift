/// The fields of a record's line, by kind: what the reader demands and the writer writes.
enum HistoryField: String, CaseIterable {
    case time, at, client, room, session, n, event, element, targets, gesture, request, seq, body, elements, geometry
    case parents, parent, code
    case user, undo, cause, undone, unchanged, final, chosen, epoch, from, to, sender, floor, shard, gseq, name, value
    case part, parts, box, cursors, selections, edit, edits, whole, hidden
}

extension HistoryRecord.Kind {
    /// Fields without which a line of this kind says nothing.
    var required: [HistoryField] {
        switch self {
        case .invoke: [.time, .client, .room, .session, .n, .event]
        case .ok: [.time, .client, .room, .session, .n, .seq]
        case .refused: [.time, .client, .room, .session, .n, .code, .final]
        case .lost: [.time, .client, .room, .session, .n]
        case .snapshot: [.time, .client, .room, .epoch, .seq, .elements]
        case .resumed: [.time, .client, .room, .epoch, .seq]
        case .resync: [.time, .client, .room, .from, .to]
        case .deliver: [.time, .client, .room, .seq, .event]
        case .legacy: [.time, .client, .room, .seq, .event, .element, .body]
        case .left, .look, .view, .pointed, .selected, .people: [.time, .client, .room]
        case .request, .answer: [.time, .client, .n]
        case .closed: [.time, .client]
        case .previewSent: [.time, .client, .room, .element, .gesture]
        case .preview: [.time, .client, .room, .element, .sender, .session, .gesture]
        case .cursor: [.time, .client, .room, .sender]
        case .started: [.time, .client, .room]
        case .edit: [.time, .client, .room, .edit, .event]
        case .result: [.time, .client, .room, .edit, .seq, .code]
        case .shown: [.time, .client, .room, .epoch, .seq, .elements]
        case .posed: [.time, .client, .room, .at, .seq, .elements, .geometry]
        case .hush: [.time, .room]
        case .stir: [.time, .room, .value]
        case .heal, .quiet: [.time]
        case .log: [.room, .seq, .shard, .gseq, .session, .n, .event]
        case .room: [.room, .seq, .floor]
        case .shard: [.shard, .gseq]
        case .element: [.room, .element, .body]
        case .count: [.name, .value]
        }
    }

    /// Fields that a line of this kind may have.
    var optional: [HistoryField] {
        switch self {
        case .invoke: [.element, .targets, .gesture, .request, .undo, .edits, .user]
        case .ok: [.body, .elements, .geometry, .element, .unchanged, .user, .event]
        case .deliver: [.session, .n, .element, .body, .elements]
        case .legacy: [.part, .parts]
        case .left: [.chosen]
        case .previewSent, .preview: [.targets, .body, .box]
        case .view: [.box]
        case .pointed, .cursor: [.body, .box]
        case .selected: [.body]
        case .people: [.targets, .cursors, .selections]
        case .edit: [.targets]
        case .shown: [.targets, .whole, .at]
        case .answer: [.room, .seq, .code, .at]
        case .snapshot: [.hidden]
        case .resumed: [.to, .hidden]
        case .log: [.element, .body, .elements, .geometry, .parents, .user, .cause, .undone, .value]
        case .element: [.parent, .box]
        default: []
        }
    }
}
