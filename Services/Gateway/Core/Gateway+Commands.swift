import Canvas
import JSONBytes
import Wire

/// What the payload of a commit asks for.
extension Gateway {
    /// Reads the command.
    mutating func command(_ incoming: Incoming) throws(Refusal) -> Command {
        let payload = incoming.payload
        switch incoming.event {
        case .transform:
            let element = try ElementField.id(payload["elementId"], field: "elementId")
            return .transform(element: element, fields: try ElementField.transform(payload, isPreview: false))
        case .create:
            guard let element = payload["element"] else {
                throw Refusal(.invalid, "element must be an object", field: "element")
            }
            return .create(elements: [try self.createItem(element, path: "element")], single: true)
        case .createMany:
            return .create(elements: try self.createItems(payload["elements"]), single: false)
        case .update:
            let element = try ElementField.id(payload["elementId"], field: "elementId")
            guard let set = payload["set"], set.kind == .object else {
                throw Refusal(.invalid, "set must be an object", field: "set")
            }
            try ElementField.check(changes: set)
            return .update(element: element, set: Array(set.rawBytes))
        case .delete:
            return .delete(element: try ElementField.id(payload["elementId"], field: "elementId"))
        case .roomJoin, .roomLeave, .transforming, .authRefresh:
            throw Refusal(.unknownEvent, "no such event")
        }
    }

    private mutating func createItems(_ value: JSONValue?) throws(Refusal) -> [CreateItem] {
        guard let value, value.kind == .array, value.count > 0 else {
            throw Refusal(.invalid, "elements must be an array of at least one element", field: "elements")
        }
        guard value.count <= self.limits.group else {
            throw Refusal(.tooLarge, "at most \(self.limits.group) elements at once", field: "elements")
        }
        var items: [CreateItem] = []
        var ids: Set<Identifier> = []
        for (index, element) in value.elements.enumerated() {
            let item = try self.createItem(element, path: "elements[\(index)]")
            guard ids.insert(item.id).inserted else {
                throw Refusal(.invalid, "the id is given twice", field: "elements[\(index)].id")
            }
            items.append(item)
        }
        return items
    }

    mutating func createItem(_ element: JSONValue, path: String) throws(Refusal) -> CreateItem {
        let id = try ElementField.check(newElement: element, path: path)
        return CreateItem(
            id: Identifier(id ?? self.names.next()), idIsGenerated: id == nil, json: Array(element.rawBytes))
    }
}

extension Command {
    /// The one element that it is about, if it is one.
    var element: Identifier? {
        switch self {
        case .transform(let element, _), .update(let element, _), .delete(let element): element
        case .create, .refuse: nil
        }
    }
}
