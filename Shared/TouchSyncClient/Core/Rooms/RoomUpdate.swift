import Canvas
import JSONBytes

/// A change of the room's elements, which has a number in the room.
package enum RoomUpdate: String, Sendable {
    case created = "element:created"
    case allCreated = "elements:created"
    case transformed = "element:transformed"
    case updated = "element:updated"
    case allTransformed = "elements:transformed"
    case allUpdated = "elements:updated"
    case deleted = "element:deleted"
    case changed = "elements:changed"

    /// What becomes of which element: nil for deleted ones.
    func changes(_ data: JSONObject, confirmed: ElementTable) -> [(id: TextKey, element: Element?)] {
        switch self {
        case .created: Self.kept([data.value], isEnvelope: true)
        case .transformed, .updated: Self.kept([data["element"]].compactMap(\.self))
        case .allCreated: Self.kept(data["elements"]?.objects)
        case .allTransformed: Self.changed(data, confirmed) { $0.clearGeometry() }
        case .allUpdated: Self.changed(data, confirmed) { $0.animation = nil }
        case .deleted: Self.gone(data["elementIds"])
        case .changed:
            Self.kept(data["created"]?.objects) + Self.kept(data["changed"]?.objects) + Self.gone(data["deletedIds"])
        }
    }

    private static func kept(_ elements: [JSONValue]?, isEnvelope: Bool = false) -> [(TextKey, Element?)] {
        (elements ?? []).compactMap { Element(server: $0, isEnvelope: isEnvelope) }.map { (TextKey($0.id), $0) }
    }

    /// A group has a part of each element's fields; what else an element has stays.
    /// - Parameter clear: takes off what is gone when it is absent.
    private static func changed(
        _ data: JSONObject, _ confirmed: ElementTable, clear: (inout Element) -> Void
    ) -> [(TextKey, Element?)] {
        (data["elements"]?.objects ?? []).compactMap { json in
            guard let id = json["id"]?.string, var element = confirmed[TextKey(id)] ?? Element(server: json) else {
                return nil
            }
            clear(&element)
            element.overlay(json)
            element.updatedBy = data["userId"]?.string ?? element.updatedBy
            return (TextKey(id), element)
        }
    }

    private static func gone(_ ids: JSONValue?) -> [(TextKey, Element?)] {
        (ids?.strings ?? []).map { (TextKey($0), nil) }
    }
}

extension Element {
    /// Takes off what a group's geometry leaves out where it is as in a new element.
    fileprivate mutating func clearGeometry() {
        for field in ElementField.moving {
            if let standard = field.omitted { self[field] = standard }
        }
        self.motion = Motion()
    }
}
