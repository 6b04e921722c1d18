package import Canvas
internal import JSONBytes

/// A file of another program, as elements of a room.
package struct ForeignFile {
    private static let limits: JSONLimits = {
        var limits = JSONLimits()
        limits.depth = 100
        (limits.keysPerObject, limits.keyLength, limits.elementsPerArray) = (.max, .max, .max)
        limits.allowsFaults = true
        return limits
    }()

    private let harvest: Harvest

    /// Nil for a file of no program that is known here.
    package init?(_ text: [UInt8]) {
        var document = JSONDocument()
        guard (try? document.parse(text, limits: Self.limits)) != nil else { return nil }
        if let file = ExcalidrawFile(document.root) {
            self.harvest = file.harvest()
        } else if let file = TldrawFile(document.root) {
            self.harvest = file.harvest()
        } else {
            return nil
        }
    }

    /// How often what was left out or changed, by what it is.
    package var left: [(what: String, count: Int)] { self.harvest.left }

    /// The elements, the lowest first, as an app would create them.
    /// - Parameter name: the new name of an element or a group.
    package func creations(_ name: (String) -> String = { $0 }) -> [[UInt8]] {
        self.harvest.elements.map { element in
            var writer = JSONWriter()
            element.encode(into: &writer, name: name)
            return writer.bytes
        }
    }

    /// The elements as the rules leave them.
    /// - Parameters:
    ///   - prefix: what the ids begin with; behind it they sort in the file's order.
    ///   - user: the author.
    package func elements(_ prefix: String, by user: String) throws(OperatorFailure) -> [Element] {
        var names: [String: String] = [:]
        for (index, element) in self.harvest.elements.enumerated() {
            let digits = String(index + 1)
            names[element.id] = prefix + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        }
        var groups: [String: String] = [:]
        let creations = self.creations { name in
            if let known = names[name] ?? groups[name] { return known }
            groups[name] = "\(prefix)group-\(groups.count + 1)"
            return groups[name] ?? prefix
        }
        var elements: [Element] = []
        var document = JSONDocument()
        for (element, json) in zip(self.harvest.elements, creations) {
            do {
                try document.parse(json, limits: .element)
                let new = try NewElement(document.root, path: "")
                elements.append(RulesTable.defaults.create(new, id: names[element.id] ?? prefix, by: user).0)
            } catch {
                throw OperatorFailure("the file's \(element.type) \(element.id) cannot be an element here: \(error)")
            }
        }
        return elements
    }
}
