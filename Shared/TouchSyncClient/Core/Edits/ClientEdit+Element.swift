import Canvas
import JSONBytes

/// What an edit needs to be shown before the server has done it.
struct EditScene {
    /// The rules that the server applies.
    let rules: RulesTable
    /// The size of the element that an annotation belongs to, pixels at scale 1.
    let parentSize: Size?
}

extension ClientEdit {
    /// An element after this edit, as the server will store it; nil without one. What the server would refuse, and
    /// undo and redo, change nothing.
    func applied(to element: Element?, id: TextKey, in scene: EditScene) -> Element? {
        guard var element else { return self.created(id, scene.rules) }
        switch self.event {
        case "element:update": self.update(&element, scene.rules)
        case _ where element.locked: break
        case "element:delete", "elements:delete": return nil
        case "element:transform", "element:throw":
            Self.transform(&element, self.body["elementId"] == nil ? nil : self.body, scene.rules)
        case "elements:transform", "elements:throw": Self.transform(&element, self.entry("elementId", id), scene.rules)
        case "element:halt", "elements:halt":
            if let fields = self.halted[id] { _ = scene.rules.apply(fields, to: &element) }
        case "element:gesture", "elements:gesture": self.gesture(&element, scene)
        case "element:preset":
            let preset = self.body["preset"]?.string.flatMap(Preset.init(rawValue:))
            if let preset { _ = scene.rules.apply(preset.fields(on: element), to: &element) }
        default: break
        }
        return element
    }

    private func created(_ id: TextKey, _ rules: RulesTable) -> Element? {
        let entry: JSONObject? =
            switch self.event {
            case "element:create": JSONObject(self.body["element"])
            case "elements:create": self.entry("id", id)
            default: nil
            }
        guard let entry else { return nil }
        do {
            // Who this user is, only the server knows.
            return rules.create(try NewElement(entry.value, path: ""), id: id.text, by: "").0
        } catch {
            return nil
        }
    }

    private func update(_ element: inout Element, _ rules: RulesTable) {
        guard let set = self.body["set"] else { return }
        do {
            let changes = try ElementChanges(set)
            if element.locked, changes.respectsLock { return }
            try changes.check(on: element)
            _ = rules.apply(changes, to: &element)
        } catch {
            // The server will refuse it, and name the field.
        }
    }

    private static func transform(_ element: inout Element, _ values: JSONObject?, _ rules: RulesTable) {
        guard let values else { return }
        _ = rules.apply(TransformFields(lenient: values.value), to: &element)
    }

    private func gesture(_ element: inout Element, _ scene: EditScene) {
        guard let deltas = GestureFields(lenient: self.body) else { return }
        _ = scene.rules.apply(
            deltas.gesture, to: &element, pivot: self.body["pivot"]?.point, parentSize: scene.parentSize)
    }

    /// The entry of an element in the payload of a group.
    private func entry(_ name: String, _ id: TextKey) -> JSONObject? {
        let entry = self.body["elements"]?.elements.first { $0[name]?.isString(id.text) ?? false }
        return entry.map(JSONObject.init)
    }
}
