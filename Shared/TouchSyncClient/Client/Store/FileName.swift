/// Texts as names of files and folders: any text has one, no two texts have the same, even where the system does not tell
/// upper from lower case or composes characters.
enum FileName {
    /// Systems allow 255 bytes; something is added in front and behind.
    static let longest = 200

    /// Lower case letters and digits as they are, any other byte as `=` and two digits.
    static func escaped(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                name += byte < 16 ? "=0" : "="
                name += String(byte, radix: 16)
            }
        }
        return name
    }

    /// The folders for a text, one in the other: a long one continues below a folder with a `+`.
    static func folders(_ text: String) -> [String] {
        var rest = Self.escaped(text)[...]
        var folders: [String] = []
        while rest.utf8.count > Self.longest {
            folders.append(rest.prefix(Self.longest) + "+")
            rest = rest.dropFirst(Self.longest)
        }
        return folders + [rest.isEmpty ? "=" : String(rest)]
    }

    static func file(room: String) throws(EditStoreError) -> String {
        let name = Self.escaped(room)
        guard name.utf8.count <= Self.longest else { throw .roomName(room) }
        return name + Self.suffix
    }

    static let suffix = ".json"
}
