import JSONBytes
import Wire

/// Writes updates as members receive them, as JSON arrays `["event", {…}]`.
enum UpdateText {
    /// An update as members of the full contract get it.
    static func text(of update: Update) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.beginArray()
        writer.value(update.event.name)
        Self.data(of: update, into: &writer)
        writer.endArray()
        return writer.bytes
    }

    /// An update as a 1.0 app gets it: one event for each element, none for what 1.0 does not know.
    static func legacyTexts(of update: Update) -> [[UInt8]] {
        switch update.event.legacy {
        case .same: [Self.text(of: update)]
        case .each(let event):
            update.elements.indices.map { Self.legacyText(event, ofElementAt: $0, in: update) }
        case .parts:
            update.elements.indices.map { index in
                let element = update.elements[index]
                let event: UpdateEvent = element.json.isEmpty ? .deleted : element.isNew ? .created : .transformed
                return Self.legacyText(event, ofElementAt: index, in: update)
            }
        case .none: []
        }
    }

    private static func legacyText(
        _ event: UpdateEvent, ofElementAt index: Int, in update: Update
    ) -> [UInt8] {
        var single = update
        single.event = event
        single.elements = [update.elements[index]]
        return EventText.event(event.name, room: nil) { writer in
            if event.shape == .flatElement { writer.rawMembers(single.elements[0].json.dropFirst().dropLast()) }
            writer.member("roomId", update.room.text)
            if event.shape == .deletion {
                writer.member("elementId", single.elements[0].id.text)
            } else {
                Self.elements(of: single, into: &writer)
            }
            Self.tail(of: single, into: &writer)
            if event == .transformed {
                writer.member("part", UInt64(index + 1))
                writer.member("parts", UInt64(update.elements.count))
            }
        }
    }

    /// The data of an update's event: the object after the event's name.
    static func data(of update: Update, into writer: inout JSONWriter) {
        writer.beginObject()
        if update.event.shape == .flatElement, let element = update.elements.first {
            writer.rawMembers(element.json.dropFirst().dropLast())
        }
        writer.key("roomId")
        writer.value(update.room.text)
        Self.elements(of: update, into: &writer)
        Self.tail(of: update, into: &writer)
        writer.endObject()
    }

    private static func elements(of update: Update, into writer: inout JSONWriter) {
        switch update.event.shape {
        case .element:
            if let element = update.elements.first {
                writer.key("element")
                writer.raw(element.json)
            }
        case .flatElement:
            break
        case .elements, .geometries, .animations:
            writer.key("elements")
            writer.beginArray()
            for element in update.elements { writer.raw(update.event.shape.appText(of: element)) }
            writer.endArray()
        case .deletion:
            if let element = update.elements.first {
                writer.key("elementId")
                writer.value(element.id.text)
            }
            writer.key("elementIds")
            writer.beginArray()
            for element in update.elements { writer.value(element.id.text) }
            writer.endArray()
        case .changes:
            Self.changes(of: update.elements, into: &writer)
        }
    }

    private static func changes(of elements: [UpdatedElement], into writer: inout JSONWriter) {
        let living = elements.filter { !$0.json.isEmpty }
        for (name, isNew) in [("created", true), ("changed", false)] {
            writer.key(string: name)
            writer.beginArray()
            for element in living where element.isNew == isNew { writer.raw(element.json) }
            writer.endArray()
        }
        writer.member("deletedIds", elements.filter(\.json.isEmpty).map(\.id.text))
    }

    private static func tail(of update: Update, into writer: inout JSONWriter) {
        writer.key("seq")
        writer.value(update.seq)
        writer.key("userId")
        writer.value(update.user.text)
        writer.key("sid")
        writer.value(update.sid.text)
        if update.number > 0 {
            writer.key("n")
            writer.value(update.number)
        }
        if [.element, .geometries].contains(update.event.shape), let gesture = update.elements.first?.gesture,
            gesture > 0
        {
            writer.member("gesture", gesture)
        }
        if let cause = update.cause.name { writer.member("cause", cause) }
    }
}
