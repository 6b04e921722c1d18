internal import JSONBytes

/// The payloads of CONNECT packets and of their refusals.
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

    /// `{"message":…}`, or `{"message":…,"data":…}` with raw JSON `data`.
    public static func refusal(message: String, data: some Collection<UInt8>) -> [UInt8] {
        var writer = JSONWriter(reserving: 64)
        writer.beginObject()
        writer.key("message")
        writer.value(message)
        if !data.isEmpty {
            writer.key("data")
            writer.raw(data)
        }
        writer.endObject()
        return writer.bytes
    }
}
