import JSONBytes

/// The elements of a room as an app has them.
struct AppElements {
    /// How the ids of annotations begin; those of other elements begin otherwise.
    static let annotationPrefix = "a"

    /// Each element's state as the server wrote it.
    private(set) var states: [String: String] = [:]
    /// Elements whose deletion the app has seen.
    private(set) var deleted: Set<String> = []

    /// The ids, in order.
    var ids: [String] { self.states.keys.sorted() }

    static func isAnnotation(_ id: String) -> Bool { id.hasPrefix(self.annotationPrefix) }

    /// Replaces everything by a snapshot.
    mutating func reset(to states: [String: String]) {
        self.states = states
    }

    /// Applies an update.
    /// - Returns: the states of its elements afterwards; a deleted one has the empty state.
    mutating func apply(_ event: String, _ data: JSONValue) -> [String: String] {
        let changed = self.changes(event, data)
        for (id, state) in changed {
            self.states[id] = state.isEmpty ? nil : state
            if state.isEmpty { self.deleted.insert(id) } else { self.deleted.remove(id) }
        }
        return changed
    }

    private func changes(_ event: String, _ data: JSONValue) -> [String: String] {
        switch event {
        case "elements:transformed": self.merged(data["elements"], by: data["userId"])
        case "elements:updated": self.merged(data["elements"], by: data["userId"], isAnimation: true)
        case "elements:created": AppText.states(of: data["elements"])
        case "element:deleted": AppText.deletedStates(of: data["elementIds"])
        case "element:created": AppText.flatState(of: data)
        case "elements:changed":
            AppText.states(of: data["created"]).merging(AppText.states(of: data["changed"])) { $1 }
                .merging(AppText.deletedStates(of: data["deletedIds"])) { $1 }
        default: AppText.state(of: data["element"])
        }
    }

    private func merged(_ elements: JSONValue?, by user: JSONValue?, isAnimation: Bool = false) -> [String: String] {
        var states: [String: String] = [:]
        for part in elements?.children ?? [] {
            guard let id = part["id"]?.string else { continue }
            states[id] = AppText.merge(part, into: self.states[id] ?? "", by: user, isAnimation: isAnimation)
        }
        return states
    }
}
