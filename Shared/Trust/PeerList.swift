/// The peers that may take part in links over TCP, and the keys by which they are known: the contents of the peers
/// file, which is the same on every machine.
///
/// ```
/// # role     name         public key
/// gateway    gateway-*    N0m8HaSm{wp7fp}z8ITmv63l{)c}I-4[hrI:3aK)
/// committer  committer-1  …
/// committer  committer-1  …                                            its next key, while it is replaced
/// ```
/// A name is exact or ends in `*`, which stands for any characters. A key may be listed for several names.
package struct PeerList: Sendable, Equatable {
    package struct Entry: Hashable, Sendable {
        package let role: PeerRole
        /// Its name, or the beginning of its names with a `*` behind it.
        package let name: String
        package let key: PublicKey

        package init(role: PeerRole, name: String, key: PublicKey) {
            self.role = role
            self.name = name
            self.key = key
        }

        /// True for the names that the entry allows.
        package func covers(_ name: String) -> Bool {
            self.isPattern ? name.utf8.starts(with: self.name.utf8.dropLast()) : name == self.name
        }

        fileprivate var isPattern: Bool { self.name.utf8.last == UInt8(ascii: "*") }
    }

    /// Why a file is not a list of peers.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        /// The line at fault, from 1.
        package let line: Int
        package let reason: String
        package var description: String { "line \(self.line): \(self.reason)" }
    }

    /// All entries, in the order of the file.
    package let entries: [Entry]
    private let byKey: [PublicKey: [Entry]]

    /// A list of these entries; without any nobody is a peer.
    package init(_ entries: [Entry] = []) {
        self.entries = entries
        self.byKey = Dictionary(grouping: entries, by: \.key)
    }

    package init(parsing bytes: [UInt8]) throws(Failure) {
        var entries: [Entry] = []
        var known: Set<Entry> = []
        for line in ListedLine.lines(of: bytes) {
            let entry = try Self.entry(line)
            guard known.insert(entry).inserted else { throw Failure(line: line.number, reason: "stands here again") }
            entries.append(entry)
        }
        self.init(entries)
    }

    private static func entry(_ line: ListedLine) throws(Failure) -> Entry {
        guard line.words.count == 3 else {
            throw Failure(line: line.number, reason: "is not of the form ROLE NAME PUBLIC-KEY")
        }
        guard let role = PeerRole(rawValue: line.words[0]) else {
            let roles = PeerRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure(line: line.number, reason: "the role is none of \(roles)")
        }
        guard self.isNameOrPattern(line.words[1]) else {
            throw Failure(
                line: line.number,
                reason:
                    "the name is not 1 to 64 letters, digits, dots, dashes and underscores, or their beginning and *")
        }
        guard let key = PublicKey(text: line.words[2].utf8) else {
            throw Failure(line: line.number, reason: "the key is not 40 characters of Z85")
        }
        return Entry(role: role, name: line.words[1], key: key)
    }

    private static func isNameOrPattern(_ text: String) -> Bool {
        let plain = text.utf8.last == UInt8(ascii: "*") ? text.utf8.dropLast() : text.utf8[...]
        return (1...64).contains(text.utf8.count)
            && plain.allSatisfy(Self.isNameByte)
    }

    /// Whether names of instances, and of hosts, may have this byte: letters, digits, dots, dashes and underscores.
    package static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    // MARK: Questions

    /// The keys by which a peer of this name may be known, those listed for exactly this name first.
    package func keys(of role: PeerRole, named name: String) -> [PublicKey] {
        let entries = self.entries.filter { $0.role == role && $0.covers(name) }
        var keys: [PublicKey] = []
        for entry in entries.filter({ !$0.isPattern }) + entries.filter(\.isPattern) where !keys.contains(entry.key) {
            keys.append(entry.key)
        }
        return keys
    }

    /// The roles that a key is listed for under any name.
    package func roles(of key: PublicKey) -> PeerRoles {
        PeerRoles((self.byKey[key] ?? []).map { PeerRoles($0.role) })
    }

    /// The roles in which the owner of a key may use a name.
    package func roles(of key: PublicKey, named name: String) -> PeerRoles {
        PeerRoles((self.byKey[key] ?? []).filter { $0.covers(name) }.map { PeerRoles($0.role) })
    }
}

/// A line of a file that is neither empty nor a comment, split at spaces and tabs.
struct ListedLine {
    /// From 1.
    let number: Int
    let words: [String]

    /// The lines of a file. A comment begins with `#` and has a line of its own: `#` is also a character of keys.
    static func lines(of bytes: [UInt8]) -> [ListedLine] {
        var lines: [ListedLine] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let words = line.split { [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains($0) }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
            lines.append(ListedLine(number: index + 1, words: words.map { String(decoding: $0, as: UTF8.self) }))
        }
        return lines
    }
}
