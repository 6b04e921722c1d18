package import JSONBytes

/// A field in an element: how it is compared, copied, written and read.
extension ElementField {
    /// Whether two elements have the same value. Text is compared bytewise.
    func isSame(in left: Element, _ right: Element) -> Bool {
        switch self.kind {
        case .id: isSameText(left.id, right.id)
        case .type: isSameText(left.type, right.type)
        case .user: isSameText(left.createdBy, right.createdBy) && isSameText(left.updatedBy, right.updatedBy)
        case .revision: left.rev == right.rev
        case .moving, .side, .anchor, .option: left[self] == right[self]
        case .locked: left.locked == right.locked
        case .bounds: left.bounds == right.bounds
        case .constraints: left.constraints == right.constraints
        case .motion: left.motion == right.motion
        case .animation: left.animation == right.animation
        case .space: left.space == right.space
        case .parent: isSameText(left.parentId, right.parentId)
        case .size, .envelope: true
        }
    }

    /// Gives an element another one's value, if the field is of the geometry or an option.
    func copy(from other: Element, to element: inout Element) {
        switch self.kind {
        case .moving, .side, .anchor, .option: element[self] = other[self]
        case .locked: element.locked = other.locked
        case .bounds: element.bounds = other.bounds
        case .constraints: element.constraints = other.constraints
        case .animation: element.animation = other.animation
        case .id, .type, .user, .revision, .space, .parent, .size, .motion, .envelope: break
        }
    }

    /// Writes it as a member of the element's object. Optional fields are written only if they are set.
    @inline(__always)
    func encode(of element: Element, into writer: inout JSONWriter) {
        switch self.kind {
        case .id: writer.member(self.name, element.id)
        case .type: writer.member(self.name, element.type)
        case .user: writer.member(self.name, self == .createdBy ? element.createdBy : element.updatedBy)
        case .revision: writer.member(self.name, element.rev)
        case .moving: if let value = element[self], value != self.omitted { writer.member(self.name, value) }
        case .side, .anchor, .option, .size: writer.member(self.name, ifPresent: element[self])
        case .locked: if element.locked { writer.member(self.name, true) }
        case .bounds: writer.member(self.name, ifPresent: element.bounds)
        case .constraints: writer.member(self.name, ifPresent: element.constraints)
        case .motion: if !element.motion.isEmpty { writer.member(self.name, ifPresent: element.motion) }
        case .animation: writer.member(self.name, ifPresent: element.animation)
        case .space: if element.space == .normalized { writer.member(self.name, element.space.rawValue) }
        case .parent: writer.member(self.name, ifPresent: element.parentId)
        case .envelope: break
        }
    }

    /// The fields that every element has written, a bit each.
    static let alwaysWritten = Self.stored.reduce(0 as UInt64) { bits, field in
        let isWritten =
            switch field.kind {
            case .id, .type, .user, .revision, .size, .side, .anchor: true
            case .moving: field.omitted == nil
            case .option, .locked, .bounds, .constraints, .space, .parent, .motion, .animation, .envelope: false
            }
        return isWritten ? bits | 1 << UInt64(field.rawValue) : bits
    }

    /// Reads what `encode` writes; false if it has the wrong kind: it then stays as it is, or is absent if it may be.
    package func read(_ value: JSONValue, into element: inout Element) -> Bool {
        switch self.kind {
        case .id: return Self.assign(value.string, &element.id)
        case .type: return Self.assign(value.string, &element.type)
        case .user where self == .createdBy: return Self.assign(value.string, &element.createdBy)
        case .user: return Self.assign(value.string, &element.updatedBy)
        case .revision: return Self.assign(value.integer, &element.rev)
        case .moving, .side, .anchor, .option:
            element[self] = value.double
            return value.double != nil
        case .locked: return Self.assign(value.bool, &element.locked)
        case .bounds: return Self.assignOptional(Bounds(json: value), &element.bounds)
        case .constraints: return Self.assignOptional(Constraints(json: value), &element.constraints)
        case .motion: return Self.assign(Motion(json: value), &element.motion)
        case .animation: return Self.assignOptional(KeyframeAnimation(json: value), &element.animation)
        case .space: return Self.assign(value.string.flatMap(Space.init(rawValue:)), &element.space)
        case .parent: return Self.assignOptional(value.string, &element.parentId)
        // Computed, or a broadcast's.
        case .size, .envelope: return true
        }
    }

    @inline(__always)
    private static func assign<Value>(_ value: Value?, _ target: inout Value) -> Bool {
        guard let value else { return false }
        target = value
        return true
    }

    private static func assignOptional<Value>(_ value: Value?, _ target: inout Value?) -> Bool {
        target = value
        return value != nil
    }
}
