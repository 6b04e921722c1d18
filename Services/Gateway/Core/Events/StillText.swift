import Canvas
import JSONBytes
import Wire

/// Texts without what moves elements, for apps that do not ask for it: there elements are where they are stored.
enum StillText {
    /// An acknowledgement of a commit, with its `element` or `elements`.
    static func acknowledgement(_ json: [UInt8]) -> [UInt8] {
        var document = JSONDocument()
        guard ElementText.mayMove(json), (try? document.parse(json, limits: .logged)) != nil else { return json }
        if let element = document.root["element"] {
            return Self.text(json, replacing: CollectionOfOne(element.rawBytes))
        }
        guard let elements = document.root["elements"], elements.kind == .array else { return json }
        return Self.text(json, replacing: elements.elements.map(\.rawBytes))
    }

    /// An array of elements.
    static func elements(_ json: [UInt8]) -> [UInt8] {
        var document = JSONDocument()
        guard ElementText.mayMove(json), (try? document.parse(json, limits: .logged)) != nil,
            document.root.kind == .array
        else { return json }
        return Self.text(json, replacing: document.root.elements.map(\.rawBytes))
    }

    /// A text with some elements in it written without what moves them.
    private static func text(_ json: [UInt8], replacing elements: some Sequence<ArraySlice<UInt8>>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(json.count)
        var end = 0
        for element in elements {
            text += json[end..<element.startIndex]
            text += ElementText(Array(element)).still()
            end = element.endIndex
        }
        return text + json[end...]
    }
}

extension RoomContent {
    var still: RoomContent {
        switch self {
        case .elements(let json): .elements(StillText.elements(json))
        case .updates(let updates): .updates(updates.map(\.still))
        }
    }
}

extension Update {
    var still: Update {
        // That a group's animations ended is in the text alone.
        guard ElementText.mayMove(self.bytes) || self.event.shape == .geometries else { return self }
        let elements = self.elements.map { element in
            var element = element
            element.json = ElementText(element.json).still()
            element.part = self.event.shape.part(of: element.json, changesAnimation: false)
            return element
        }
        return self.rewritten(as: self.event, elements)
    }
}

extension GestureEnded {
    var still: GestureEnded {
        var ended = self
        ended.json = ElementText(ended.json).still()
        return ended
    }
}
