/// What can be told of a JSON text that was validated before without parsing it again.
package enum JSONText {
    /// The index of the quotation mark that ends a string; the text's end when there is none.
    /// - Parameter start: the index behind the mark that begins it.
    package static func endOfString(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index < text.count {
            // What people write is long, so it is passed by eight bytes.
            if index + 8 <= text.count,
                JSONLexer.specialBytes(text.loadUnaligned(fromByteOffset: index, as: UInt64.self)) == 0
            {
                index += 8
                continue
            }
            switch text[index] {
            case UInt8(ascii: "\""): return index
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return text.count
    }
}
