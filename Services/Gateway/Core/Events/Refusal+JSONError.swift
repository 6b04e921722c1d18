package import JSONBytes
package import Wire

extension Refusal {
    /// Why JSON from an app is refused although it is well-formed.
    /// - Parameters:
    ///   - fault: what ``JSONBytes/JSONDocument/parseWellFormed(_:limits:)`` returned.
    ///   - value: the part of the document whose fields apps know.
    ///   - name: what these fields are called by apps; empty if `value` has no name.
    package init(_ fault: JSONError, in value: JSONValue, called name: String = "", limits: JSONLimits) {
        let path = value.path(toByte: fault.offset, from: name) ?? name
        let field = path.isEmpty ? nil : path
        switch fault.reason {
        case .tooDeep:
            self.init(.tooLarge, "Values are nested at most \(limits.depth) deep.", field: field)
        case .tooManyKeys:
            self.init(.tooLarge, "An object has at most \(limits.keysPerObject) fields.", field: field)
        case .keyTooLong:
            self.init(.tooLarge, "The name of a field has at most \(limits.keyLength) bytes.", field: field)
        case .tooManyElements:
            self.init(.tooLarge, "An array has at most \(limits.elementsPerArray) elements.", field: field)
        case .numberTooLong:
            self.init(.invalid, "A number has at most \(limits.numberLength) characters.", field: field)
        case .numberNotFinite:
            self.init(.invalid, "A number lies within the range of a double.", field: field)
        case .duplicateKey:
            self.init(.invalid, "An object has each field once.", field: field)
        case .escapedNull:
            self.init(.invalid, "A text cannot contain U+0000.", field: field)
        default:
            self.init(.invalid, "A text cannot contain half of a surrogate pair.", field: field)
        }
    }
}
