import Wire

/// Writes updates as 1.0 apps get them, which know one event for each element.
enum V1Translator {
    /// The events of an update, all with its number; none for what 1.0 does not know.
    static func texts(of update: Update) -> [[UInt8]] {
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
            let single = update.rewritten(as: event(update.entries[index]), [elements[index]])
            guard single.event == .transformed else { return Array(single.text) }
            return single.text.dropLast(2) + #","part":\#(index + 1),"parts":\#(elements.count)}]"#.utf8
        }
    }
}
