import Canvas
public import JSONBytes

/// The elements of an update, and their form in a row of the commit log.
///
///     shape                  update                      `before`                      `after`
///     element, flatElement   the element afterwards      the element; nil if created   the element
///     elements, geometries,  the elements afterwards     array of those that existed   array
///     animations
///     deletion               the ids, parent first       array                         nil
///     changes                those created, then those   array of those that existed   array of those that exist
///                            changed, then deleted ids
public enum UpdateShape: Sendable {
    /// One element after the update.
    case element
    /// The same; its fields are members of the event itself, as 1.0 apps expect.
    case flatElement
    /// Several elements after the update.
    case elements
    /// Several elements after the update, of which apps get the geometry only: the largest group fits one message.
    case geometries
    /// Several elements after the update, of which apps get the animation only.
    case animations
    /// The ids of deleted elements, each parent before its descendants.
    case deletion
    /// Several elements, some of them created, some changed and some deleted.
    case changes

    /// True when the log has one element, and false when it has arrays.
    public var isSingle: Bool { self == .element || self == .flatElement }

    /// True when a row of the log names an element: the only one, or the first deleted one.
    public var namesElement: Bool { self.isSingle || self == .deletion }

    /// What apps get of an element, if that is only a part; empty when they get it whole.
    public func part(of json: [UInt8], changesAnimation: Bool) -> [UInt8] {
        switch self {
        case .geometries: ElementText(json).geometry(withAnimation: changesAnimation)
        case .animations: ElementText(json).animated()
        case .element, .flatElement, .elements, .deletion, .changes: []
        }
    }

    // MARK: The commit log

    /// The log's text of these elements: the element itself or an array; nil when there is none.
    public func logText(of elements: some Collection<[UInt8]>) -> [UInt8]? {
        guard let first = elements.first else { return nil }
        if self.isSingle { return first }
        var writer = JSONWriter(reserving: 2 + elements.reduce(0) { $0 + $1.count + 1 })
        writer.beginArray()
        for element in elements { writer.raw(element) }
        writer.endArray()
        return writer.bytes
    }

    /// The elements of an update from its row in the log; nil when the row is not one that a committer wrote.
    /// - Parameter element: the row's element, to avoid searching for it in the text.
    public func elements(
        before: [UInt8]?, after: [UInt8]?, element: Identifier? = nil, with document: inout JSONDocument
    ) -> [UpdatedElement]? {
        if self == .deletion {
            return self.values(before, with: &document)?.map { UpdatedElement(id: $0.id, json: []) }
        }
        if self.isSingle, let element, let after { return [UpdatedElement(id: element, json: after)] }
        if self == .changes { return self.changes(before, after, with: &document) }
        guard let elements = self.values(after, with: &document) else { return nil }
        switch self {
        case .geometries, .animations: return self.cut(elements, from: self.values(before, with: &document) ?? [])
        case .element, .flatElement, .elements, .deletion, .changes: return elements
        }
    }

    /// Elements with the parts that apps get of them.
    private func cut(_ elements: [UpdatedElement], from former: [UpdatedElement]) -> [UpdatedElement] {
        elements.indices.map { index in
            var element = elements[index]
            let before = former.count == elements.count ? former[index].json : element.json
            let changesAnimation = ElementText(element.json).animationText != ElementText(before).animationText
            element.part = self.part(of: element.json, changesAnimation: changesAnimation)
            return element
        }
    }

    /// The elements that exist afterwards, new ones first, and the ids of those that do not.
    private func changes(
        _ before: [UInt8]?, _ after: [UInt8]?, with document: inout JSONDocument
    ) -> [UpdatedElement]? {
        guard let before = self.values(before, with: &document), var after = self.values(after, with: &document) else {
            return nil
        }
        let old = Set(before.map(\.id))
        let living = Set(after.map(\.id))
        for index in after.indices { after[index].isNew = !old.contains(after[index].id) }
        return after.filter(\.isNew) + after.filter { !$0.isNew }
            + before.filter { !living.contains($0.id) }.map { UpdatedElement(id: $0.id, json: []) }
    }

    private func values(_ text: [UInt8]?, with document: inout JSONDocument) -> [UpdatedElement]? {
        guard let text, (try? document.parse(text, limits: .logged)) != nil else { return nil }
        if self.isSingle {
            guard let id = document.root["id"]?.string else { return nil }
            return [UpdatedElement(id: Identifier(id), json: text)]
        }
        guard document.root.kind == .array else { return nil }
        var elements: [UpdatedElement] = []
        for value in document.root.elements {
            guard let id = value["id"]?.string else { return nil }
            elements.append(UpdatedElement(id: Identifier(id), json: Array(value.rawBytes)))
        }
        return elements
    }
}

extension JSONLimits {
    /// For what a gateway forwarded, which has checked it.
    static let forwarded = Self.element

    /// Limits for reading the log: its texts were checked when they were received; a cascade may have any number of
    /// elements.
    public static let logged: JSONLimits = {
        var limits = JSONLimits()
        limits.depth = 64
        limits.keysPerObject = 1024
        limits.keyLength = .max
        limits.elementsPerArray = 1 << 20
        return limits
    }()
}
