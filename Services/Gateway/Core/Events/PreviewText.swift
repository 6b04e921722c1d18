import Canvas
import JSONBytes
package import Wire

/// One preview, those of a group, or awareness, ready for the members of the room.
package struct PreviewText: Equatable, Sendable {
    /// What a text shows.
    package enum Content: Equatable, Sendable {
        case previews(ArraySlice<Preview>)
        case awareness(Awareness)
    }

    /// Whose it is: that connection does not get it. Nil when it is at another gateway.
    package var sender: Slot?
    /// What it shows; an app that cannot take it now gets it later, folded with what follows, and a group as a group only
    /// if it would get it so now.
    package var content: Content
    /// The event as a JSON array, such as `["element:transforming", {…}]`, or `["elements:transforming", {…}]` for a group.
    package var json: [UInt8]

    /// One preview, by itself even if it is of a group.
    package init(sender: Slot?, preview: Preview) {
        self.sender = sender
        self.content = .previews([preview.alone])
        self.json = Self.text(of: preview)
    }

    init(sender: Slot?, group: ArraySlice<Preview>) {
        self.sender = sender
        self.content = .previews(group)
        self.json = Self.text(of: group)
    }

    package init(sender: Slot?, awareness: Awareness) {
        self.sender = sender
        self.content = .awareness(awareness)
        self.json = EventText.awareness(awareness)
    }

    /// How many previews and parts of awareness it shows.
    var count: Int {
        switch self.content {
        case .previews(let previews): previews.count
        case .awareness: 1
        }
    }

    /// One text for each preview, but one for those of a group that follow each other, and one for each part of awareness.
    /// - Parameter sender: a connection's slot, if it is here.
    package static func texts(of shown: RoomShow, sender: (UInt64) -> Slot?) -> [PreviewText] {
        var texts: [PreviewText] = []
        var rest = shown
        while let text = Self.removeFirst(of: &rest, sender: sender) { texts.append(text) }
        return texts
    }

    /// Takes the first of what waited, and returns its texts: of that many bytes together at most, unless the first one
    /// alone has more. A group that has far more is divided.
    package static func takeTexts(from shown: inout RoomShow, bytes: Int) -> [PreviewText] {
        var texts: [PreviewText] = []
        var size = 0
        let most = max(1, bytes / Self.groupedBytes)
        var rest = shown
        while let text = Self.removeFirst(of: &rest, upTo: most, sender: { _ in nil }) {
            size += text.json.count
            guard size <= bytes || texts.isEmpty else { break }
            texts.append(text)
            shown = rest
        }
        return texts
    }

    /// About what a preview adds to the text of its group, bytes.
    private static let groupedBytes = 128

    /// Removes what comes first, and returns its text: of a preview, of its group as far as that follows, or of awareness.
    /// Where an element comes again, the next preview of the same group begins.
    /// - Parameter most: the most previews of a group.
    private static func removeFirst(
        of shown: inout RoomShow, upTo most: Int = .max, sender: (UInt64) -> Slot?
    ) -> PreviewText? {
        guard let first = shown.previews.first else {
            return shown.awareness.popFirst().map { PreviewText(sender: sender($0.connection), awareness: $0) }
        }
        if first.group == .alone {
            shown.previews.removeFirst()
            return PreviewText(sender: sender(first.connection), preview: first)
        }
        var elements: Set<Identifier> = []
        let group = shown.previews.prefix(most).prefix {
            $0.isShownTogether(with: first) && elements.insert($0.element).inserted
        }
        shown.previews.removeFirst(group.count)
        return PreviewText(sender: sender(first.connection), group: group)
    }

    /// The events for an app that asked for batches: `["previews:batch", {"events": […]}]` with several texts, and a text
    /// alone as it is.
    package static func batches(of texts: [PreviewText]) -> [[UInt8]] {
        var batches: [[UInt8]] = []
        var rest = texts[...]
        while let first = rest.first {
            var size = 0
            let batch = rest.prefix { text in
                size += text.json.count + 1
                return size <= Self.maxBatchBytes
            }
            batches.append(batch.count > 1 ? Self.text(of: batch) : first.json)
            rest = rest.dropFirst(max(1, batch.count))
        }
        return batches
    }

    /// The texts in a batch together, at most, bytes: clients have limits for a message, such as 1 MiB.
    private static let maxBatchBytes = 128 * 1024

    private static func text(of batch: ArraySlice<PreviewText>) -> [UInt8] {
        var writer = JSONWriter(reserving: batch.reduce(40) { $0 + $1.json.count + 1 })
        writer.beginArray()
        writer.value("previews:batch")
        writer.beginObject()
        writer.key("events")
        writer.beginArray()
        for text in batch { writer.raw(text.json) }
        writer.endArray()
        writer.endObject()
        writer.endArray()
        return writer.bytes
    }

    /// Where it can be seen: a group wherever one of its elements can.
    var area: PreviewArea {
        switch self.content {
        case .previews(let previews):
            previews.dropFirst().reduce(previews.first?.area ?? .everywhere) { $0.union($1.area) }
        case .awareness(let awareness): awareness.area
        }
    }
}

/// Writing previews as members receive them.
extension PreviewText {
    private static func text(of preview: Preview) -> [UInt8] {
        var writer = JSONWriter(reserving: 320)
        writer.beginArray()
        writer.value("element:transforming")
        writer.beginObject()
        writer.member("roomId", preview.room.text)
        writer.member("elementId", preview.element.text)
        Self.publisher(of: preview, into: &writer)
        preview.fields.encodeMembers(into: &writer)
        writer.member("gesture", preview.gesture)
        writer.member("after", preview.after)
        Self.times(of: preview, into: &writer)
        writer.endObject()
        writer.endArray()
        return writer.bytes
    }

    /// The previews of a group, which have one publisher and one gesture. Queues that were slow may have folded some elements
    /// more often than others: the message counts as many of the app's previews as any of its elements.
    private static func text(of group: ArraySlice<Preview>) -> [UInt8] {
        guard let first = group.first, let mostFolded = group.max(by: { $0.folded < $1.folded }) else { return [] }
        var writer = JSONWriter(reserving: 256 + 192 * group.count)
        writer.beginArray()
        writer.value("elements:transforming")
        writer.beginObject()
        writer.member("roomId", first.room.text)
        writer.key("elements")
        writer.beginArray()
        for preview in group {
            writer.beginObject()
            writer.member("elementId", preview.element.text)
            preview.fields.encodeMembers(into: &writer)
            writer.member("after", preview.after)
            writer.endObject()
        }
        writer.endArray()
        Self.publisher(of: first, into: &writer)
        writer.member("gesture", first.gesture)
        Self.times(of: mostFolded, into: &writer)
        writer.endObject()
        writer.endArray()
        return writer.bytes
    }

    private static func publisher(of preview: Preview, into writer: inout JSONWriter) {
        writer.member("userId", preview.user.text)
        writer.member("sid", preview.sid.text)
    }

    private static func times(of preview: Preview, into writer: inout JSONWriter) {
        writer.member("n", UInt64(preview.folded))
        writer.member("dt", UInt64(preview.sinceLast))
    }
}

extension Preview {
    /// The same without its group.
    var alone: Preview {
        if self.group == .alone { return self }
        var preview = self
        preview.group = .alone
        return preview
    }

    /// True when it belongs to the group of the other one.
    fileprivate func isShownTogether(with other: Preview) -> Bool {
        self.group != .alone && self.connection == other.connection
            && self.gesture == other.gesture && self.sid == other.sid && self.room == other.room
    }
}
