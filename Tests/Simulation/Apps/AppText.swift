import JSONBytes

/// What a gateway sent, parsed once for all apps that get it.
final class AppText {
    let json: [UInt8]
    private var document: JSONDocument?

    init(_ json: [UInt8]) {
        self.json = json
    }

    /// The text's value; null when it is no JSON.
    var root: JSONValue {
        if let document { return document.root }
        var document = JSONDocument()
        do { try document.parse(self.json) } catch {}
        self.document = document
        return document.root
    }

    /// The states of a snapshot's elements, by id.
    static func states(of elements: JSONValue?) -> [String: String] {
        var states: [String: String] = [:]
        guard let elements else { return states }
        for element in elements.elements {
            if let id = element["id"]?.string { states[id] = String(decoding: element.rawBytes, as: UTF8.self) }
        }
        return states
    }

    /// An update's element id and state, as the log has it.
    static func state(of name: String, _ data: JSONValue) -> (id: String, body: String) {
        switch name {
        case "element:created":
            // The payload is the element itself, with fields of the event behind its own.
            let text = String(decoding: data.rawBytes, as: UTF8.self)
            let end = text.firstRange(of: ",\"roomId\":")?.lowerBound ?? text.endIndex
            return (data["id"]?.string ?? "", text[..<end] + "}")
        case "element:deleted": return (data["elementId"]?.string ?? "", "")
        default:
            guard let element = data["element"] else { return ("", "") }
            return (element["id"]?.string ?? "", String(decoding: element.rawBytes, as: UTF8.self))
        }
    }
}
