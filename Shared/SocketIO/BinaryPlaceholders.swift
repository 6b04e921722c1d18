internal import JSONBytes

/// The placeholders in an event's JSON that refer to its attachments: `{"_placeholder":true,"num":0}`.
public enum BinaryPlaceholders {
    /// Whether `json` is a valid array whose placeholders name attachments 0 to `count` - 1.
    ///
    /// A placeholder that points elsewhere must not reach other clients: their decoders throw on it.
    public static func areSound(_ json: UnsafeRawBufferPointer, count: Int) -> Bool {
        var document = JSONDocument()
        do {
            try document.parse(json, limits: PeerJSON.limits)
        } catch {
            return false
        }
        guard document.root.kind == .array else { return false }
        // Iterative with an explicit stack: the peer chooses the depth.
        var open = [document.root]
        while let value = open.popLast() {
            if let mark = value["_placeholder"], mark.bool == true {
                guard let number = value["num"]?.integer, number >= 0, number < Int64(clamping: count) else {
                    return false
                }
                continue
            }
            for element in value.elements where element.kind == .array || element.kind == .object {
                open.append(element)
            }
            for member in value.members where member.value.kind == .array || member.value.kind == .object {
                open.append(member.value)
            }
        }
        return true
    }
}
