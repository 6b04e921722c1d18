internal import JSONBytes

/// The body of a refused CONNECT.
public enum ConnectError {
    /// `{"message":…}`, or `{"message":…,"data":…}` with raw JSON `data`.
    public static func body(message: String, data: some Collection<UInt8>) -> [UInt8] {
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
