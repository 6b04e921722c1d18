/// Modules that a page needs at once, as one: over a long way each request costs more than its bytes, and together they are
/// smaller. Each keeps its address, under which others get what it exports in the bundle.
struct Bundle {
    private let scripts: [String: Script]
    /// The module that imports all others; the bundle's address, too.
    private let path: String
    /// The modules in it, each behind those that it imports.
    private let paths: [String]
    /// Those outside of it that they import.
    let outer: [String]

    /// - Parameters:
    ///   - alone: modules that stay alone, with what these import: they run before the bundle, or without the page.
    init(_ path: String, alone: [String], in scripts: [String: Script]) {
        let outside = alone.reduce(into: []) { Self.collect($1, in: scripts, into: &$0) }
        var paths = outside
        Self.collect(path, in: scripts, into: &paths)
        paths.removeFirst(outside.count)
        self.scripts = scripts
        self.path = path
        self.paths = paths.filter { scripts[$0] != nil }
        self.outer = paths.flatMap { scripts[$0]?.imports ?? [] }.map(\.path)
            .reduce(into: []) { if !paths.contains($1) || scripts[$1] == nil, !$0.contains($1) { $0.append($1) } }
    }

    /// Adds a module behind all that it imports.
    static func collect(_ path: String, in scripts: [String: Script], into paths: inout [String]) {
        guard !paths.contains(path) else { return }
        for other in scripts[path]?.imports ?? [] { Self.collect(other.path, in: scripts, into: &paths) }
        paths.append(path)
    }

    /// What is served under the address of each of its modules.
    var contents: [String: [UInt8]] {
        var contents = Dictionary(uniqueKeysWithValues: self.paths.map { ($0, Array(self.reference(to: $0).utf8)) })
        contents[self.path] = self.whole
        return contents
    }

    private var whole: [UInt8] {
        let imports = self.outer.map { "import * as \(Self.name(of: $0)) from \"\($0)\";\n" }.joined()
        let exports = "export { \(self.paths.map(Self.name).joined(separator: ", ")) };\n"
        return imports.utf8 + self.paths.flatMap(self.part) + exports.utf8
    }

    private func part(_ path: String) -> [UInt8] {
        guard let script = self.scripts[path] else { return [] }
        let head = "const \(Self.name(of: path)) = (() => {\n" + script.imports.map(\.declaration).joined()
        return head.utf8 + script.body + "return { \(script.exports.joined(separator: ", ")) };\n})();\n".utf8
    }

    private func reference(to path: String) -> String {
        let exports = self.scripts[path]?.exports.joined(separator: ", ") ?? ""
        let name = Self.name(of: path)
        return "import { \(name) } from \"\(self.path)\";\nexport const { \(exports) } = \(name);\n"
    }

    /// What a module is called in the bundle.
    static func name(of path: String) -> String { "$" + (path.split(separator: "/").last?.dropLast(".js".count) ?? "") }
}
