public import Canvas
public import JSONBytes

extension ExtraField {
    /// A field of the app's own with a value.
    public init(_ name: String, _ value: some JSONEncodable) {
        var writer = JSONWriter()
        value.encode(into: &writer)
        self.init(name: name, json: writer.bytes)
    }
}
