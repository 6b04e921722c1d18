public import Canvas

/// What a preview shows when its app sends deltas instead of values. The fan-out, which has the stored state, replaces it
/// by the values that members see.
///
/// Shared and immutable: most previews have none, and previews are copied often.
public final class PreviewDelta: Sendable {
    /// The deltas since the gesture began.
    public let fields: GestureFields
    /// The point of the canvas about which a group rotates and scales; nil: the element's own anchor.
    public let pivot: Point?

    /// Deltas since the gesture began.
    public init(_ fields: GestureFields, pivot: Point? = nil) {
        self.fields = fields
        self.pivot = pivot
    }

    /// These deltas with those that a newer preview of the gesture shows.
    public func merged(with newer: PreviewDelta) -> PreviewDelta {
        var fields = self.fields
        fields.merge(newer.fields)
        return PreviewDelta(fields, pivot: newer.pivot)
    }
}

extension PreviewDelta: Equatable {
    public static func == (left: PreviewDelta, right: PreviewDelta) -> Bool {
        left === right || left.fields == right.fields && left.pivot == right.pivot
    }
}

extension ByteWriter {
    /// The parts of a preview that few have: a mask (bit 0 translation, 1 scale, 2 rotation, 3 anchor, 4 pivot, 5 member
    /// of a group, 6 its last one, 7 tilt), then two doubles for each part but the group's, one for the rotation.
    mutating func rareParts(of preview: Preview) {
        let (fields, pivot) = (preview.delta?.fields ?? GestureFields(), preview.delta?.pivot)
        let mask: UInt8 =
            (fields.translation == nil ? 0 : 1) | (fields.scale == nil ? 0 : 2) | (fields.rotation == nil ? 0 : 4)
            | (fields.anchor == nil ? 0 : 8) | (pivot == nil ? 0 : 16) | preview.group.rawValue << 5
            | (fields.tilt == nil ? 0 : 128)
        self.u8(mask)
        if let translation = fields.translation { self.point(translation) }
        if let scale = fields.scale { self.point(scale) }
        if let rotation = fields.rotation { self.double(rotation) }
        if let anchor = fields.anchor { self.point(anchor) }
        if let pivot { self.point(pivot) }
        if let tilt = fields.tilt { self.point(tilt) }
    }
}

extension ByteReader {
    /// Reads what ``ByteWriter/rareParts(of:)`` wrote; nil deltas when there is none of their parts.
    mutating func rareParts() -> (delta: PreviewDelta?, group: GroupRole) {
        let mask = self.u8()
        let group = GroupRole(rawValue: mask >> 5 & 3)
        if group == nil || mask == 0 { self.fail() }
        var fields = GestureFields()
        if mask & 1 != 0 { fields.translation = self.point() }
        if mask & 2 != 0 { fields.scale = self.point() }
        if mask & 4 != 0 { fields.rotation = self.finite() }
        if mask & 8 != 0 { fields.anchor = self.point() }
        let pivot = mask & 16 == 0 ? nil : self.point()
        if mask & 128 != 0 { fields.tilt = self.point() }
        return (fields.isEmpty ? nil : PreviewDelta(fields, pivot: pivot), group ?? .alone)
    }
}
