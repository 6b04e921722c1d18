import JSONBytes
public import TouchSyncClientCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Values of the app as JSON.
enum ClientJSON {
    /// Nil for what has no form in JSON, such as a number that is not finite.
    static func encode(_ value: some Encodable) -> [UInt8]? { (try? JSONEncoder().encode(value)).map(Array.init) }

    /// Nil for a text that says something else.
    static func decode<Value: Decodable>(_ json: [UInt8]) -> Value? {
        // The most frequent type, read as fast as everything else.
        if Value.self == String.self { return JSONValue(clientText: json)?.string as? Value }
        return try? JSONDecoder().decode(Value.self, from: Data(json))
    }
}

extension MemberSignal {
    /// What was told with it; nil if there is nothing, or it is not of this type.
    public func data<Value: Decodable>(as type: Value.Type) -> Value? { ClientJSON.decode(self.json) }
}

extension MemberConnection {
    /// The app's own state; nil if there is none, or it is not of this type.
    public func state<Value: Decodable>(as type: Value.Type) -> Value? {
        self.state.flatMap { ClientJSON.decode(Array($0.utf8)) }
    }
}
