internal import JSONBytes

/// The auth payload of a CONNECT packet.
public enum ConnectPayload {
    /// Whether `bytes` is nothing or one valid JSON object, as Socket.IO 5 asks.
    public static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else { return true }
        var document = JSONDocument()
        do {
            try document.parse(bytes, limits: .wellFormed)
            return document.root.kind == .object
        } catch {
            return false
        }
    }
}
