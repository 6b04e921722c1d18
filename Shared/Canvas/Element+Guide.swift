internal import JSONBytes

extension Element {
    /// The type of guides: lines that things snap to. They are moved as other elements are, but do not rotate.
    static let guideType = "guide"

    /// The coordinate that is the same all along a guide: it is the line x = `positionX` or y = `positionY`. Its own field
    /// `axis` says so from its creation on. Nil for other elements.
    public var guideAxis: Constraints.Axis? {
        guard isSameText(self.type, Self.guideType), let json = self.extra.value(of: "axis") else { return nil }
        var document = JSONDocument()
        do { try document.parse(json, limits: Self.jsonLimits) } catch { return nil }
        return document.root.string.flatMap(Constraints.Axis.init(rawValue:))
    }

    /// Rejects an update that would turn a guide.
    func checkAxis(_ changes: ElementChanges) throws(FieldError) {
        guard isSameText(self.type, Self.guideType), let sent = changes.extra.value(of: "axis") else { return }
        guard sent == self.extra.value(of: "axis") else {
            throw FieldError(field: "set.axis", message: "A guide keeps its axis.")
        }
    }
}
