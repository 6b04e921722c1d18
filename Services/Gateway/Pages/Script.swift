/// A module of JavaScript, taken apart where it meets others. Its imports and exports are written as everywhere in `web`: at
/// the beginning of a line, names in braces, an export before what it declares.
struct Script {
    struct Import {
        /// `{ name, name as other }` or `* as name`.
        let clause: String
        let path: String
    }

    private(set) var imports: [Import] = []
    private(set) var exports: [String] = []
    /// All else.
    private(set) var body: [UInt8] = []

    init(_ text: [UInt8]) {
        var statement = ""
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if !statement.isEmpty || line.starts(with: "import ".utf8) {
                statement += String(decoding: line, as: UTF8.self)
                guard statement.hasSuffix(";") else { continue }
                self.imports.append(Import(statement))
                statement = ""
            } else if line.starts(with: "export ".utf8) {
                let code = line.dropFirst("export ".count)
                self.exports.append(Self.declared(by: String(decoding: code, as: UTF8.self)))
                self.body += code + [UInt8(ascii: "\n")]
            } else {
                self.body += line + [UInt8(ascii: "\n")]
            }
        }
    }

    private static func declared(by code: String) -> String {
        let words = code.split { !($0.isLetter || $0.isNumber || $0 == "$" || $0 == "_") }
        return String(words.first { !["async", "function", "class", "const"].contains($0) } ?? "")
    }
}

extension Script.Import {
    fileprivate init(_ statement: String) {
        let parts = statement.dropFirst("import ".count).split(separator: "\"")
        self.clause = String(parts[0].dropLast(" from ".count))
        self.path = parts[1].hasPrefix("./") ? "/app" + parts[1].dropFirst() : String(parts[1])
    }

    /// A declaration of the same names, from an object with what the other module exports.
    var declaration: String {
        let names = self.clause.hasPrefix("* as ") ? String(self.clause.dropFirst(5)) : self.clause
        return "const \(names.replacing(" as ", with: ": ")) = \(Bundle.name(of: self.path));\n"
    }
}
