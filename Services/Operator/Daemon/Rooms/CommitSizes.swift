internal import Canvas
internal import JSONBytes

/// Divides what a command changes into commits of the size of apps' own, so that no transaction, log row or update is
/// larger than the pipeline is used to.
enum CommitSizes {
    /// Elements in one commit, as in an app's.
    static let elements = 500
    /// The JSON text of the elements of one commit, bytes, unless a single one is longer; as in an app's message.
    static let bytes = 256 << 10

    /// The elements in their order, in runs that fit into one commit each.
    static func runs(of elements: [Element]) -> [[Element]] {
        var runs: [[Element]] = []
        var size = 0
        var writer = JSONWriter()
        for element in elements {
            writer.clear()
            element.encode(into: &writer)
            size += writer.bytes.count
            if let last = runs.indices.last, runs[last].count < Self.elements, size <= Self.bytes {
                runs[last].append(element)
            } else {
                runs.append([element])
                size = writer.bytes.count
            }
        }
        return runs
    }
}
